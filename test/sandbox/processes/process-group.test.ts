import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { endGroup } from "../../../src/sandbox/processes/process-group.ts";

/** Starts a process group under a parent that never waits for its children, as some first processes of containers do. */
async function startUnderCareless(command: string): Promise<number> {
  const script =
    "import subprocess, sys\nprint(subprocess.Popen(sys.argv[1:], start_new_session=True).pid, flush=True)\n";
  const parent = spawn("python3", ["-c", `${script}input()`, ...command.split(" ")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void parent.kill("SIGKILL"));
  const [printed] = (await once(parent.stdout, "data")) as [Buffer];
  return Number(printed.toString());
}

test.runIf(process.platform === "linux").each(["sleep 600", "true"])(
  "a group whose dead nobody buries has ended: %s",
  async (command) => {
    const leader = await startUnderCareless(command);
    await endGroup(leader);
    expect(readFileSync(`/proc/${leader}/stat`, "utf8")).toMatch(/\) [ZX] /);
  },
);
