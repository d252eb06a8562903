import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { describe, expect, it } from "vitest";
import type { ListedBlob } from "../../../../src/runtime/blobs.ts";
import { diskBlobs } from "../../../../src/runtime/blobs/disk-blobs.ts";
import { ownerKey } from "../../../../src/runtime/blobs/disk/disk-records.ts";
import { dieAtEachChange } from "../../../base/processes/die-at-each-change.ts";
import { blobDirectories, filesIn } from "./blob-directory.ts";
import { gather } from "../gather.ts";

const newDirectory = blobDirectories();
const dyingProcess = fileURLToPath(new URL("dying-process.js", import.meta.url));
const writingProcess = fileURLToPath(new URL("writing-process.js", import.meta.url));

describe("a store whose process is killed", () => {
  it("lists only complete blobs, keeps confirmed ones and sweeps all leftovers, whichever change the kill interrupts", async () => {
    const latest = await dieAtEachChange({
      program: dyingProcess,
      async prepare() {
        const directory = newDirectory();
        const old = diskBlobs(directory, { diskNow: () => Date.now() - 5000 });
        await old.put("me", "text/plain", Buffer.from("shared"));
        await old.put("me", "text/plain", Buffer.from("old"));
        await old.close();
        return directory;
      },
      directoryOf: (directory) => directory,
      check: expectSound,
      atOnce: 3,
    });
    expect(latest).toBeGreaterThan(40);
  }, 120_000);

  it("stays consistent when another process kills it at arbitrary moments", async () => {
    const directory = newDirectory();
    const words: string[] = [];
    for (let lines = 1; lines <= 20; lines += 1) {
      const child = execa(process.execPath, [writingProcess, directory], { reject: false, lines: true });
      let seen = 0;
      for await (const line of child) {
        words.push(line);
        seen += 1;
        if (seen === lines) child.kill("SIGKILL");
      }
      expect((await child).signal).toBe("SIGKILL");
    }
    expect(words.length).toBeGreaterThan(200);
    await expectSound(directory, words.join("\n"), "the last kill");
  }, 60_000);
});

async function expectSound(directory: string, said: string, moment: string): Promise<void> {
  // A process killed while it registered itself counts as alive for two minutes, so the clock is moved past that.
  const store = diskBlobs(directory, { ttlMs: 3_600_000, diskNow: () => Date.now() + 180_000 });
  try {
    for (const blob of await listed(store.list())) {
      const bytes = await gather(store.read(blob.owner, blob.id));
      expect(createHash("sha256").update(bytes).digest("hex"), moment).toBe(blob.sha256);
      expect(bytes.length, moment).toBe(blob.size);
    }
    // The first put after a crash must recount the usage by itself, before any sweep.
    await store.put("you", "text/plain", Buffer.from("next"));
    expectUsage(directory, await listed(store.list()), moment);
    await store.sweep();
    const blobs = await listed(store.list());
    expectUsage(directory, blobs, moment);
    const { kept, removed } = understand(said);
    const ids = new Set(blobs.map(({ id }) => id));
    expect(
      [...kept].filter((id) => !ids.has(id)),
      moment,
    ).toEqual([]);
    expect(
      [...removed].filter((id) => ids.has(id)),
      moment,
    ).toEqual([]);
    const files = (room: string): string[] => filesIn(directory, room);
    expect(files("staging"), moment).toEqual([]);
    expect(files("leases"), moment).toEqual([]);
    expect(files("processes"), moment).toHaveLength(1);
    expect(files("records"), moment).toHaveLength(blobs.length);
    const objects = files("objects").filter((name) => !name.includes("."));
    expect(objects.map((name) => name.replace("/", "")).sort(), moment).toEqual(
      [...new Set(blobs.map(({ sha256 }) => sha256))].sort(),
    );
    expect(files("objects"), moment).toHaveLength(objects.length + blobs.length);
  } finally {
    await store.close();
  }
}

function expectUsage(directory: string, blobs: readonly ListedBlob[], moment: string): void {
  const come = (some: readonly ListedBlob[]): string =>
    `${some.reduce((sum, { size }) => sum + size, 0)} ${some.length}`;
  const owners = [...new Set(blobs.map(({ owner }) => owner))];
  const lines = owners.map((owner) => `${ownerKey(owner)} ${come(blobs.filter((blob) => blob.owner === owner))}`);
  const [total, ...found] = readFileSync(path.join(directory, "v1/usage"), "utf8").trimEnd().split("\n");
  expect([total, found.sort()], moment).toEqual([come(blobs), lines.sort()]);
}

/** Which puts and removals the store confirmed to a child. A removal that was requested but not confirmed counts as neither. */
function understand(said: string): { readonly kept: ReadonlySet<string>; readonly removed: ReadonlySet<string> } {
  const kept = new Set<string>();
  const removed = new Set<string>();
  for (const line of said.split("\n").filter(Boolean)) {
    const word = JSON.parse(line) as { kept?: string; removing?: string; removed?: string };
    if (word.kept !== undefined) kept.add(word.kept);
    if (word.removing !== undefined) kept.delete(word.removing);
    if (word.removed !== undefined) removed.add(word.removed);
  }
  return { kept, removed };
}

async function listed(blobs: AsyncIterable<ListedBlob>): Promise<ListedBlob[]> {
  const all: ListedBlob[] = [];
  for await (const blob of blobs) all.push(blob);
  return all;
}
