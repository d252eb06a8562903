import { statSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { diskBlobs } from "../../../../src/runtime/blobs/disk-blobs.ts";
import { makeDiskLayout } from "../../../../src/runtime/blobs/disk/disk-layout.ts";
import { SharedDirectory } from "../../../../src/runtime/blobs/disk/shared-directory.ts";
import { blobDirectories, filesIn } from "./blob-directory.ts";

const newDirectory = blobDirectories();
const day = 24 * 60 * 60 * 1000;
const stillClock = { now: () => 0, after: () => () => undefined };

describe("the age of a blob", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });
  /** Shifts `Date.now` of this process. */
  const shiftClock = (ms: number): void => {
    const now = Date.now.bind(Date);
    vi.spyOn(Date, "now").mockImplementation(() => now() + ms);
  };

  it.each([day + 1_000, -day - 1_000])("does not depend on a process clock that is %d ms ahead", async (shift) => {
    const directory = newDirectory();
    const one = diskBlobs(directory);
    const early = await one.put("me", "text/plain", Buffer.from("early"));
    shiftClock(shift);
    const sweeper = diskBlobs(directory);
    expect(await sweeper.sweep()).toMatchObject({ removed: 0 });
    const late = await sweeper.put("me", "text/plain", Buffer.from("late"));
    vi.restoreAllMocks();
    expect(await one.sweep()).toMatchObject({ removed: 0 });
    for (const { id } of [early, late]) expect(await one.stat("me", id)).toMatchObject({ id });
    for await (const { createdAt } of one.list()) expect(Math.abs(createdAt - Date.now())).toBeLessThan(day / 2);
    await Promise.all([one.close(), sweeper.close()]);
  });

  it("is measured by the clock of the disk, like the time since the last heartbeat of a process", () => {
    const layout = makeDiskLayout(newDirectory());
    shiftClock(day);
    const pause = (): Promise<void> => Promise.resolve();
    const place = new SharedDirectory(layout, { token: "one", clock: stillClock, diskNow: undefined, pause });
    const time = place.diskNow();
    vi.restoreAllMocks();
    expect(Math.abs(time - Date.now())).toBeLessThan(day / 2);
    expect(statSync(path.join(layout.processes, "one")).mtimeMs).toBeCloseTo(time, -1);
    place.leave(new Error("left"));
  });

  it("expires immediately with a ttlMs of 0", async () => {
    const directory = newDirectory();
    const store = diskBlobs(directory, { ttlMs: 0 });
    await store.put("me", "text/plain", Buffer.from("x"));
    expect(await store.sweep()).toMatchObject({ removed: 1 });
    expect(filesIn(directory, "objects")).toEqual([]);
    await store.close();
  });
});
