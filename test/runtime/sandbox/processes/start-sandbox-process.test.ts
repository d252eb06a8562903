import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { endGroup } from "../../../../src/runtime/sandbox/processes/start-sandbox-process.ts";

/** Starts a process group under a parent that never reaps its children, as the init process of some containers. */
async function startUnderCareless(command: string): Promise<number> {
  // The reference keeps Python from reaping the child, as it does for unreferenced Popen objects.
  const script =
    "import subprocess, sys\nchild = subprocess.Popen(sys.argv[1:], start_new_session=True)\nprint(child.pid, flush=True)\n";
  const parent = spawn("python3", ["-c", `${script}input()`, ...command.split(" ")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void parent.kill("SIGKILL"));
  const [printed] = (await once(parent.stdout, "data")) as [Buffer];
  return Number(printed.toString());
}

test.runIf(process.platform === "linux").each(["sleep 600", "true"])(
  "considers a process group that consists of zombies ended: %s",
  async (command) => {
    const leader = await startUnderCareless(command);
    await endGroup(leader);
    expect(readFileSync(`/proc/${leader}/stat`, "utf8")).toMatch(/\) [ZX] /);
  },
);

test("kills a process that joins the group after the first signal", async () => {
  const leader = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
  const died = once(leader, "exit");
  const kill = process.kill.bind(process);
  let calls = 0;
  vi.spyOn(process, "kill").mockImplementation((id, signal) => {
    // The process joins after the first signal.
    if (++calls === 1) return true;
    return kill(id, signal);
  });
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  await endGroup(Number(leader.pid));
  expect(await died).toEqual([null, "SIGKILL"]);
});
