import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { runProgram } from "../../base/spawn-process.ts";

/**
 * Ends a process of Windows and all that it started. A `.cmd` shim runs its program as a child of cmd.exe, which would end
 * alone. Where taskkill cannot do it, the process itself is killed.
 */
export function endTree(child: Pick<ChildProcess, "pid" | "kill">, signal: NodeJS.Signals): void {
  // By its full path: Windows looks for programs in the current directory first, which is the user's project.
  const taskkill = join(process.env["SystemRoot"] ?? "C:\\Windows", "System32", "taskkill.exe");
  runProgram(taskkill, ["/pid", String(child.pid), "/T", "/F"], { windowsHide: true }).catch(() => child.kill(signal));
}
