import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { identifyProcess, isRunning, pidExists, readProcessStat } from "../../../src/base/processes/live-process.ts";

const onLinux = process.platform === "linux";
/** Larger than any pid that an operating system assigns. */
const deadPid = 2 ** 30;

describe("isRunning", () => {
  it("recognises the current process", () => {
    expect(isRunning(identifyProcess())).toBe(onLinux ? true : undefined);
  });

  it("is false for an unused pid and for a process that has exited", async () => {
    expect(isRunning({ ...identifyProcess(), pid: deadPid })).toBe(false);
    const child = spawn(process.execPath, ["-e", "setInterval(() => undefined, 1000)"]);
    await once(child, "spawn");
    const identity = identifyProcess(child.pid);
    expect(isRunning(identity)).toBe(onLinux ? true : undefined);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(isRunning(identity)).toBe(false);
  });

  it.runIf(onLinux)("is false when the pid was reused by another process", () => {
    expect(isRunning({ ...identifyProcess(), started: "1" })).toBe(false);
  });

  it("is undefined for another machine, boot or container, and without a start time", () => {
    expect(isRunning({ ...identifyProcess(), space: "elsewhere" })).toBeUndefined();
    expect(isRunning({ ...identifyProcess(), started: "" })).toBeUndefined();
  });
});

describe.runIf(onLinux)("readProcessStat", () => {
  it("reads the parent, state and start time, and returns undefined for a missing process", async () => {
    const stat = await readProcessStat(process.pid);
    expect(stat).toMatchObject({ parent: process.ppid, hasEnded: false, started: identifyProcess().started });
    expect(await readProcessStat(deadPid)).toBeUndefined();
  });
});

it("pidExists returns whether a process with that pid exists", () => {
  expect([pidExists(process.pid), pidExists(deadPid)]).toEqual([true, false]);
});
