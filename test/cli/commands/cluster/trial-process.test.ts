import { expect, test } from "vitest";
import { startTrialProcess } from "../../../../src/cli/commands/cluster/trial-process.ts";

const { signal } = new AbortController();
const start = (code: string, given: AbortSignal = signal) =>
  startTrialProcess(process.execPath, ["-e", code], { ready: /at (\S+)/, signal: given });
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("is ready when it has printed so, and ends when it is asked to", async () => {
  const started = await start("console.error('open a'); console.error('at 5'); setInterval(() => {}, 1000)");
  expect(started.found[1]).toBe("5");
  expect(isAlive(started.pid)).toBe(true);
  await started.stop();
  expect(isAlive(started.pid)).toBe(false);
  await started.stop();
});

test("that ends before it is ready is reported with its last line", async () => {
  await expect(start("console.error('first'); console.error('no tier works'); process.exit(3)")).rejects.toMatchObject({
    code: "ENDPOINT_UNREACHABLE",
    message: expect.stringMatching(/ended: no tier works$/) as string,
  });
});

test("that is not ready when the signal is aborted is killed", async () => {
  const abort = new AbortController();
  const starting = start("setInterval(() => {}, 1000)", abort.signal);
  abort.abort(new Error("interrupted"));
  await expect(starting).rejects.toThrow("interrupted");
  await expect(start("", abort.signal)).rejects.toThrow("interrupted");
});
