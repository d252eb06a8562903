import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { identifyProcess, isRunning, pidExists, readProcessStat } from "../../../src/base/processes/live-process.ts";

const onLinux = process.platform === "linux";
/** Larger than any pid that systems assign. */
const deadPid = 2 ** 30;

describe("isRunning", () => {
  it("recognises the current process", () => {
    expect(isRunning(identifyProcess())).toBe(onLinux ? true : undefined);
  });

  it("is false for a pid that nobody has, and for a process that has ended", async () => {
    expect(isRunning({ ...identifyProcess(), pid: deadPid })).toBe(false);
    const child = spawn(process.execPath, ["-e", "setInterval(() => undefined, 1000)"]);
    await once(child, "spawn");
    const identity = identifyProcess(child.pid);
    expect(isRunning(identity)).toBe(onLinux ? true : undefined);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(isRunning(identity)).toBe(false);
  });

  it.runIf(onLinux)("is false when the pid belongs to another process now", () => {
    expect(isRunning({ ...identifyProcess(), started: "1" })).toBe(false);
  });

  it("is undefined for a process of another machine, boot or container, and where no start time is known", () => {
    expect(isRunning({ ...identifyProcess(), space: "elsewhere" })).toBeUndefined();
    expect(isRunning({ ...identifyProcess(), started: "" })).toBeUndefined();
  });
});

describe.runIf(onLinux)("readProcessStat", () => {
  it("reads parent, group and start time, also past a name with spaces and parentheses", async () => {
    const stat = await readProcessStat(process.pid);
    expect(stat).toMatchObject({ parent: process.ppid, hasEnded: false, started: identifyProcess().started });
    expect(await readProcessStat(deadPid)).toBeUndefined();
  });
});

it("pidExists tells whether a pid is taken", () => {
  expect([pidExists(process.pid), pidExists(deadPid)]).toEqual([true, false]);
});
