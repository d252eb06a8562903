import { linkSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Clock } from "../../../../src/base/clock.ts";
import { type ProcessIdentity, identifyProcess } from "../../../../src/base/processes/live-process.ts";
import { type DiskLayout, makeDiskLayout } from "../../../../src/runtime/blobs/disk/disk-layout.ts";
import { SharedDirectory } from "../../../../src/runtime/blobs/disk/shared-directory.ts";
import { blobDirectories } from "./blob-directory.ts";

const newDirectory = blobDirectories();
const stillClock: Clock = { now: () => 0, after: () => () => undefined };
const now = 1_000_000_000;
/** Larger than any pid that an operating system assigns. */
const deadPid = 2 ** 30;
const key = "0".repeat(32);

describe("the turns of places", () => {
  it("runs requests of one process in order", async () => {
    const { open } = prepare();
    const place = open("one");
    const served: number[] = [];
    await Promise.all([1, 2, 3, 4].map((n) => place.exclusive(() => served.push(n))));
    expect(served).toEqual([1, 2, 3, 4]);
  });

  it("runs one function at a time across instances", async () => {
    const { open } = prepare();
    const places = ["one", "two", "three"].map((token) => open(token));
    const asked = places.flatMap((place) => Array.from({ length: 20 }, () => place));
    let [working, most, done] = [0, 0, 0];
    const work = async (): Promise<void> => {
      most = Math.max(most, ++working);
      await setImmediate();
      working -= 1;
      done += 1;
    };
    await Promise.all(asked.map((place) => place.exclusive(work)));
    expect({ most, done }).toEqual({ most: 1, done: 60 });
  });

  it("returns the result of the function and releases the lock after a failure", async () => {
    const { open } = prepare();
    const [one, two] = [open("one"), open("two")];
    const failure = new Error("no");
    await expect(one.exclusive(() => Promise.reject(failure))).rejects.toBe(failure);
    expect(await one.exclusive(() => 1)).toBe(1);
    expect(await two.exclusive(() => 2)).toBe(2);
  });

  it.each<[string, Partial<ProcessIdentity>, number]>([
    ["has exited", { pid: deadPid }, now],
    ["runs elsewhere and sent no heartbeat for two minutes", { space: "elsewhere" }, now - 120_000],
  ])("does not wait for a holder that %s", async (_, identity, beatAt) => {
    const { open, held, pauses } = prepare();
    held({ ...identifyProcess(), ...identity }, beatAt);
    expect(await open("one").exclusive(() => "mine")).toBe("mine");
    expect(pauses).toEqual([]);
  });

  it.runIf(process.platform === "linux")(
    "does not wait for a holder whose pid was reused by another process",
    async () => {
      const { open, held, pauses } = prepare();
      held({ ...identifyProcess(), started: "1" }, now);
      await open("one").exclusive(() => undefined);
      expect(pauses).toEqual([]);
    },
  );

  it.each<[string, Partial<ProcessIdentity>, number]>([
    ["runs on this machine without a recent heartbeat", {}, now - 10_000_000],
    ["runs elsewhere with a recent heartbeat", { space: "elsewhere", pid: deadPid }, now - 119_000],
  ])("waits for a holder that %s and times out after 30 seconds", async (_, identity, beatAt) => {
    const { open, held, pauses } = prepare();
    held({ ...identifyProcess(), ...identity }, beatAt);
    await expect(open("one").exclusive(() => undefined)).rejects.toMatchObject({ code: "INTERNAL" });
    expect(pauses.slice(0, 6)).toEqual([1, 2, 4, 8, 16, 16]);
    expect(pauses.reduce((sum, ms) => sum + ms)).toBeGreaterThanOrEqual(30_000);
  });

  it("takes a newer ticket when others took and released the lock since it listed the tickets", async () => {
    const { open, layout, tickets } = prepare();
    let slow = false;
    const place = open("slow", () => {
      if (!slow) return now;
      slow = false;
      // Between listing and linking: twelve turns of other instances, which remove the oldest tickets.
      for (let n = 5; n <= 12; n += 1) writeFileSync(path.join(layout.lock, `${n}.free`), "");
      return now;
    });
    slow = true;
    await place.exclusive(() => {
      expect(tickets()).not.toContain("1");
      expect(tickets()).toContain("13");
    });
    expect(slow).toBe(false);
  });

  it("removes all but the latest eight tickets", async () => {
    const { open, tickets } = prepare();
    const place = open("one");
    for (let n = 0; n < 30; n += 1) await place.exclusive(() => undefined);
    expect(tickets()).toHaveLength(8);
    expect(tickets()).toContain("30.free");
  });

  it("takes over its own ticket that could not be given back", async () => {
    const { open, layout, pauses } = prepare();
    const place = open("one");
    const away = `${layout.lock}.away`;
    await expect(
      place.exclusive(() => {
        renameSync(layout.lock, away);
      }),
    ).rejects.toMatchObject({ code: "ENOENT" });
    renameSync(away, layout.lock);
    expect(await place.exclusive(() => "mine")).toBe("mine");
    expect(pauses).toEqual([]);
  });

  it("end when the place is closed, after those that were asked for", async () => {
    const { open } = prepare();
    const place = open("one");
    const reason = new Error("closed");
    const last = place.exclusive(() => "last");
    const closing = place.close(reason);
    await expect(place.exclusive(() => "late")).rejects.toBe(reason);
    expect(await last).toBe("last");
    await closing;
  });
});

describe("the registration of a place", () => {
  it("is touched every 15 seconds, recreated if missing, and removed when the place is left", () => {
    const layout = makeDiskLayout(newDirectory());
    let time = now;
    const timers: { readonly ms: number; readonly callback: () => void }[] = [];
    let cancelled = 0;
    const clock: Clock = {
      now: () => 0,
      after(ms, callback) {
        timers.push({ ms, callback });
        return () => (cancelled += 1);
      },
    };
    const place = new SharedDirectory(layout, {
      token: "one",
      clock,
      diskNow: () => time,
      pause: () => Promise.resolve(),
    });
    const file = path.join(layout.processes, "one");
    const beat = (): void => {
      time += 15_000;
      timers.at(-1)?.callback();
      expect(statSync(file).mtimeMs).toBe(time);
    };
    beat();
    rmSync(file);
    beat();
    expect(timers.map(({ ms }) => ms)).toEqual([15_000, 15_000, 15_000]);
    place.leave(new Error("left"));
    expect(cancelled).toBe(1);
    expect(readdirSync(layout.processes)).toEqual([]);
  });

  it.each(["", "a", "a\nb\n1", "a\nb\nx\nc\n", "a\nb\n1\nc", "\n\n\n\n"])(
    "counts as a running process for two minutes while its text is the incomplete %j",
    (text) => {
      const layout = makeDiskLayout(newDirectory());
      let time = Date.now();
      const place = new SharedDirectory(layout, {
        token: "one",
        clock: stillClock,
        diskNow: () => time,
        pause: () => Promise.resolve(),
      });
      writeFileSync(path.join(layout.processes, "two"), text);
      writeFileSync(path.join(layout.leases, `two.${key}.1`), "");
      expect([...place.heldKeys()]).toEqual([key]);
      time += 125_000;
      expect([...place.heldKeys()]).toEqual([]);
      place.sweepDead();
      expect(readdirSync(layout.processes)).toEqual(["one"]);
      expect(readdirSync(layout.leases)).toEqual([]);
    },
  );

  it("keeps the holds of running processes, and its own, but not those of processes that exited or are unknown", () => {
    const { layout, open } = prepare();
    writeFileSync(path.join(layout.processes, "alive"), JSON.stringify(identifyProcess()));
    writeFileSync(path.join(layout.processes, "dead"), JSON.stringify({ ...identifyProcess(), pid: deadPid }));
    for (const token of ["alive", "dead", "unknown"])
      writeFileSync(path.join(layout.leases, `${token}.${token}.1`), "");
    const place = open("one");
    const release = place.hold("own");
    expect([...place.heldKeys()].sort()).toEqual(["alive", "own"]);
    release();
    release();
    expect([...place.heldKeys()]).toEqual(["alive"]);
  });
});

interface Prepared {
  readonly layout: DiskLayout;
  /** All pauses of all instances, in milliseconds. */
  readonly pauses: readonly number[];
  readonly open: (token: string, diskNow?: () => number) => SharedDirectory;
  /** Creates a ticket held by another process. */
  readonly held: (identity: ProcessIdentity, beatAt: number) => void;
  readonly tickets: () => string[];
}

function prepare(): Prepared {
  const layout = makeDiskLayout(newDirectory());
  const pauses: number[] = [];
  const pause = async (ms: number): Promise<void> => {
    pauses.push(ms);
    await setImmediate();
  };
  return {
    layout,
    pauses,
    open: (token, diskNow = () => now) => new SharedDirectory(layout, { token, clock: stillClock, diskNow, pause }),
    held(identity, beatAt) {
      const file = path.join(layout.processes, "other");
      writeFileSync(file, JSON.stringify(identity));
      utimesSync(file, beatAt / 1000, beatAt / 1000);
      linkSync(file, path.join(layout.lock, "4"));
      rmSync(file);
    },
    tickets: () => readdirSync(layout.lock),
  };
}
