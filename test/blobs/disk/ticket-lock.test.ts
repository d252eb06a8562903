import { linkSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Clock } from "../../../src/base/clock.ts";
import { identifyProcess } from "../../../src/base/processes/live-process.ts";
import type { ProcessIdentity } from "../../../src/base/processes/live-process.ts";
import { openProcessRegistry, toText } from "../../../src/blobs/disk/process-registry.ts";
import type { ProcessRegistry, RegisteredProcess } from "../../../src/blobs/disk/process-registry.ts";
import { openTicketLock } from "../../../src/blobs/disk/ticket-lock.ts";
import type { TicketLock } from "../../../src/blobs/disk/ticket-lock.ts";
import { blobDirectories } from "./blob-directory.ts";

const newDirectory = blobDirectories();
const stillClock: Clock = { now: () => 0, after: () => () => undefined };
const now = 1_000_000_000;
/** Larger than any pid that an operating system assigns. */
const deadPid = 2 ** 30;

describe("openTicketLock", () => {
  it("runs requests of one process in order", async () => {
    const { open } = prepare();
    const { lock } = open("one");
    const served: number[] = [];
    await Promise.all([1, 2, 3, 4].map((n) => lock.run(() => served.push(n))));
    expect(served).toEqual([1, 2, 3, 4]);
  });

  it("runs one function at a time across instances", async () => {
    const { open } = prepare();
    const locks = ["one", "two", "three"].map((token) => open(token).lock);
    const asked = locks.flatMap((lock) => Array.from({ length: 20 }, () => lock));
    let [working, most, done] = [0, 0, 0];
    const work = async (): Promise<void> => {
      most = Math.max(most, ++working);
      await setImmediate();
      working -= 1;
      done += 1;
    };
    await Promise.all(asked.map((lock) => lock.run(work)));
    expect({ most, done }).toEqual({ most: 1, done: 60 });
  });

  it("returns the result of the function and releases the lock after a failure", async () => {
    const { open } = prepare();
    const [one, two] = [open("one").lock, open("two").lock];
    const failure = new Error("no");
    await expect(one.run(() => Promise.reject(failure))).rejects.toBe(failure);
    expect(await one.run(() => 1)).toBe(1);
    expect(await two.run(() => 2)).toBe(2);
  });

  it.each<[string, Partial<ProcessIdentity>, number]>([
    ["has exited", { pid: deadPid }, now],
    ["runs elsewhere and sent no heartbeat for two minutes", { space: "elsewhere" }, now - 120_000],
  ])("does not wait for a holder that %s", async (_, identity, beatAt) => {
    const { open, held, pauses } = prepare();
    held({ token: "other", ...identifyProcess(), ...identity }, beatAt);
    expect(await open("one").lock.run(() => "mine")).toBe("mine");
    expect(pauses).toEqual([]);
  });

  it.runIf(process.platform === "linux")(
    "does not wait for a holder whose pid was reused by another process",
    async () => {
      const { open, held, pauses } = prepare();
      held({ token: "other", ...identifyProcess(), started: "1" }, now);
      await open("one").lock.run(() => undefined);
      expect(pauses).toEqual([]);
    },
  );

  it.each<[string, Partial<ProcessIdentity>, number]>([
    ["runs on this machine without a recent heartbeat", {}, now - 10_000_000],
    ["runs elsewhere with a recent heartbeat", { space: "elsewhere", pid: deadPid }, now - 119_000],
  ])("waits for a holder that %s and times out after 30 seconds", async (_, identity, beatAt) => {
    const { open, held, pauses } = prepare();
    held({ token: "other", ...identifyProcess(), ...identity }, beatAt);
    await expect(open("one").lock.run(() => undefined)).rejects.toMatchObject({ code: "INTERNAL" });
    expect(pauses.slice(0, 6)).toEqual([1, 2, 4, 8, 16, 16]);
    expect(pauses.reduce((sum, ms) => sum + ms)).toBeGreaterThanOrEqual(30_000);
  });

  it("takes a newer ticket when others took and released the lock since it listed the tickets", async () => {
    const { open, directory, tickets } = prepare();
    let slow = true;
    const { lock, registry } = open("slow", (own) => {
      if (!slow) return;
      slow = false;
      // Between listing and linking: twelve turns of other instances, which remove the oldest tickets.
      for (let n = 5; n <= 12; n += 1) linkSync(own, path.join(directory, `${n}.free`));
      for (let n = 5; n <= 12; n += 1) linkSync(own, path.join(directory, String(n)));
    });
    await lock.run(() => {
      expect(tickets()).not.toContain("1");
      expect(tickets()).toContain("13");
    });
    registry.close();
  });

  it("removes all but the latest eight tickets", async () => {
    const { open, tickets } = prepare();
    const { lock } = open("one");
    for (let n = 0; n < 30; n += 1) await lock.run(() => undefined);
    expect(tickets()).toHaveLength(16);
    expect(tickets()).toContain("30.free");
  });

  it("takes over its own ticket that could not be marked as free", async () => {
    const { open, directory } = prepare();
    const { lock, registry } = open("one");
    linkSync(registry.ownFile(), path.join(directory, "7"));
    expect(await lock.run(() => "mine")).toBe("mine");
  });
});

interface Opened {
  readonly lock: TicketLock;
  readonly registry: ProcessRegistry;
}

interface Prepared {
  readonly directory: string;
  /** All pauses of all instances, in milliseconds. */
  readonly pauses: readonly number[];
  readonly open: (token: string, beforeTicket?: (ownFile: string) => void) => Opened;
  /** Creates a ticket held by another process. */
  readonly held: (identity: RegisteredProcess, beatAt: number) => void;
  readonly tickets: () => string[];
}

function prepare(): Prepared {
  const root = newDirectory();
  const [directory, processes] = [path.join(root, "lock"), path.join(root, "processes")];
  for (const each of [directory, processes]) mkdirSync(each);
  const pauses: number[] = [];
  const pause = async (ms: number): Promise<void> => {
    pauses.push(ms);
    await setImmediate();
  };
  return {
    directory,
    pauses,
    open(token, beforeTicket = () => undefined) {
      const registry = openProcessRegistry(processes, token, { clock: stillClock, diskNow: () => now });
      const watched: ProcessRegistry = {
        ...registry,
        ownFile() {
          const own = registry.ownFile();
          beforeTicket(own);
          return own;
        },
      };
      return { registry, lock: openTicketLock(directory, watched, pause) };
    },
    held(identity, beatAt) {
      const file = path.join(processes, identity.token);
      writeFileSync(file, toText(identity));
      utimesSync(file, beatAt / 1000, beatAt / 1000);
      linkSync(file, path.join(directory, "4"));
      rmSync(file);
    },
    tickets: () => readdirSync(directory),
  };
}
