import { readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { Clock } from "../../../src/base/clock.ts";
import { identifyProcess } from "../../../src/base/processes/live-process.ts";
import { openProcessRegistry, parseRegistered, toText } from "../../../src/blobs/disk/process-registry.ts";
import { blobDirectories } from "./blob-directory.ts";

const newDirectory = blobDirectories();

describe("openProcessRegistry", () => {
  it("touches its file every 15 seconds, recreates it if missing, and removes it on close", () => {
    const directory = newDirectory();
    let now = 1_000_000_000;
    const timers: { readonly ms: number; readonly callback: () => void }[] = [];
    let cancelled = 0;
    const clock: Clock = {
      now: () => 0,
      after(ms, callback) {
        timers.push({ ms, callback });
        return () => (cancelled += 1);
      },
    };
    const registry = openProcessRegistry(directory, "one", { clock, diskNow: () => now });
    const beat = (): void => {
      now += 15_000;
      timers.at(-1)?.callback();
      expect(statSync(path.join(directory, "one")).mtimeMs).toBe(now);
    };
    beat();
    rmSync(path.join(directory, "one"));
    beat();
    expect(timers.map(({ ms }) => ms)).toEqual([15_000, 15_000, 15_000]);
    registry.close();
    expect(cancelled).toBe(1);
    expect(readdirSync(directory)).toEqual([]);
  });

  it("treats an incomplete file as a running process for two minutes", () => {
    const directory = newDirectory();
    let now = Date.now();
    const clock: Clock = { now: () => 0, after: () => () => undefined };
    const registry = openProcessRegistry(directory, "one", { clock, diskNow: () => now });
    writeFileSync(path.join(directory, "two"), "tw");
    expect(registry.livesByToken("two")).toBe(true);
    now += 125_000;
    expect(registry.livesByToken("two")).toBe(false);
    expect(registry.livesByToken("one")).toBe(true);
    expect(registry.livesByToken("three")).toBe(false);
  });

  it("round-trips a registered process", () => {
    const registered = { token: "token", ...identifyProcess() };
    expect(parseRegistered(toText(registered))).toEqual(registered);
  });

  it.each(["", "a", "a\nb\n1", "a\nb\nx\nc\n", "a\nb\n1\nc", "\n\n\n\n"])("rejects the incomplete text %j", (text) => {
    expect(parseRegistered(text)).toBeUndefined();
  });
});
