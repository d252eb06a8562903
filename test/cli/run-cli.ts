import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { fileURLToPath } from "node:url";

export const binary = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

export interface CliRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** Starts the built command as a process whose environment contains only PATH, HOME and SHELL. */
export function startCli(args: readonly string[], { cwd, env = {} }: CliOptions): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [binary, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, SHELL: "/bin/sh", ...env },
  });
}

/** Runs the command and waits until it exits. */
export async function runCli(args: readonly string[], options: CliOptions): Promise<CliRun> {
  const child = startCli(args, options);
  child.stdin.on("error", () => undefined);
  child.stdin.end(options.input ?? "");
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, stdout, stderr };
}
