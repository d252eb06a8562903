import { lstatSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Swept } from "../../blobs.ts";
import { type DiskLayout, everyShard, objectPath, recordPath, shardOf } from "./disk-layout.ts";
import type { SharedDirectory } from "./shared-directory.ts";
import { type BlobRecord, changeUsage, everyRecord, readRecord, recountUsage, removeBlob } from "./disk-records.ts";

const batchSize = 100;

/** Whether a blob created at that time has expired. */
type IsExpired = (createdAt: number) => boolean;

/**
 * Finds suspect records without the lock, checks them again with the lock, then removes them. Recounts the usage afterwards, because a
 * power failure can restore an outdated usage file.
 */
export async function sweepDisk(shared: SharedDirectory, isExpired: IsExpired): Promise<Swept> {
  const { layout } = shared;
  const suspects: string[] = [];
  for await (const { key, record } of everyRecord(layout)) {
    if (record === undefined || isExpired(record.createdAt) || isBroken(layout, record)) suspects.push(key);
  }
  const swept = { removed: 0, freedBytes: 0, held: 0 };
  for (let at = 0; at < suspects.length; at += batchSize) {
    await shared.exclusive(() => sweepRecords(shared, suspects.slice(at, at + batchSize), isExpired, swept));
  }
  for (const { shard, names } of everyShard(layout.objects)) {
    if (orphans(layout, shard, names).length > 0) await shared.exclusive(() => sweepShard(layout, shard));
    await setImmediate();
  }
  await shared.exclusive(async () => {
    shared.sweepDead();
    await recountUsage(layout);
  });
  return swept;
}

function sweepRecords(
  shared: SharedDirectory,
  keys: readonly string[],
  isExpired: IsExpired,
  swept: { -readonly [Count in keyof Swept]: number },
): Promise<void> {
  const { layout } = shared;
  const held = shared.heldKeys();
  return changeUsage(layout, (usage) => {
    for (const key of keys) {
      const record = readRecord(layout, key);
      if (record === undefined) {
        rmSync(recordPath(layout, key), { force: true, recursive: true }); // Removed meanwhile, or malformed and not counted.
      } else if (held.has(key) && !isBroken(layout, record)) {
        swept.held += 1;
      } else if (isExpired(record.createdAt) || isBroken(layout, record)) {
        removeBlob(layout, key, record, usage);
        swept.removed += 1;
        swept.freedBytes += record.size;
      }
    }
  });
}

/** Whether a record has no content, because of a power failure before `put` returned. */
function isBroken(layout: DiskLayout, { sha256 }: BlobRecord): boolean {
  return lstatSync(objectPath(layout, sha256), { throwIfNoEntry: false }) === undefined;
}

function sweepShard(layout: DiskLayout, shard: string): void {
  const directory = shardOf(layout.objects, shard);
  for (const name of orphans(layout, shard, readdirSync(directory)))
    rmSync(path.join(directory, name), { force: true });
}

/** The references without a record, and the content without references. Unknown names are ignored. */
function orphans(layout: DiskLayout, shard: string, names: readonly string[]): readonly string[] {
  const referred = new Set<string>();
  const found: string[] = [];
  for (const name of names) {
    const [, content, key] = /^([0-9a-f]{62})\.([0-9a-f]{32})$/.exec(name) ?? [];
    if (content === undefined || key === undefined) continue;
    if (readRecord(layout, key)?.sha256 === `${shard}${content}`) referred.add(content);
    else found.push(name);
  }
  return [...found, ...names.filter((name) => /^[0-9a-f]{62}$/.test(name) && !referred.has(name))];
}
