import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { endGroup } from "../../../src/sandbox/processes/process-group.ts";

/** Starts a process group under a parent that never waits for its children, as some first processes of containers do. */
async function startUnderCareless(command: string): Promise<number> {
  // Held in a name, for Python looks after a child that nothing refers to any more, and buries it if it is dead by then.
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
  "a group whose dead nobody buries has ended: %s",
  async (command) => {
    const leader = await startUnderCareless(command);
    await endGroup(leader);
    expect(readFileSync(`/proc/${leader}/stat`, "utf8")).toMatch(/\) [ZX] /);
  },
);

test("whoever comes into a group that is being ended dies too", async () => {
  const leader = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
  const died = once(leader, "exit");
  const kill = process.kill.bind(process);
  let calls = 0;
  vi.spyOn(process, "kill").mockImplementation((id, signal) => {
    // The first signal passes by one who comes after it.
    if (++calls === 1) return true;
    return kill(id, signal);
  });
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  await endGroup(Number(leader.pid));
  expect(await died).toEqual([null, "SIGKILL"]);
});
