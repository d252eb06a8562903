import { lstatSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Swept } from "../blob-store.ts";
import type { DiskLeases } from "./disk-leases.ts";
import { everyShard, objectPath, recordPath, shardOf } from "./disk-layout.ts";
import type { DiskLayout } from "./disk-layout.ts";
import { everyRecord, readRecord } from "./disk-records.ts";
import type { BlobRecord } from "./disk-records.ts";
import { countDisk, ownerKey, takeUsage, writeUsage } from "./disk-usage.ts";
import { forgetBlob } from "./disk-commit.ts";
import type { ProcessRegistry } from "./process-registry.ts";

const batchSize = 100;

export interface SweepTools {
  readonly layout: DiskLayout;
  readonly leases: DiskLeases;
  readonly registry: ProcessRegistry;
  /** Runs the work with the store lock. */
  readonly exclusive: <T>(work: () => Promise<T> | T) => Promise<T>;
  /** Whether a blob created at that time has expired. */
  readonly isExpired: (createdAt: number) => boolean;
}

/**
 * Finds candidates without the lock, checks them again with the lock, then removes them. Recounts the usage afterwards, because a power
 * failure can restore an outdated usage file.
 */
export async function sweepDisk(tools: SweepTools): Promise<Swept> {
  const { layout, exclusive, isExpired } = tools;
  const suspects: string[] = [];
  for await (const { key, record } of everyRecord(layout)) {
    if (record === undefined || isExpired(record.createdAt) || isBroken(layout, record)) suspects.push(key);
  }
  const swept = { removed: 0, freedBytes: 0, held: 0 };
  for (let at = 0; at < suspects.length; at += batchSize) {
    const batch = suspects.slice(at, at + batchSize);
    const { removed, freedBytes, held } = await exclusive(() => sweepRecords(tools, batch));
    swept.removed += removed;
    swept.freedBytes += freedBytes;
    swept.held += held;
  }
  for (const { shard, names } of everyShard(layout.objects)) {
    if (orphans(layout, shard, names).length > 0) await exclusive(() => sweepShard(layout, shard));
    await setImmediate();
  }
  await exclusive(async () => {
    tools.leases.held(); // Removes leases of processes that exited.
    sweepDead(layout.staging, tools.registry);
    sweepDead(layout.processes, tools.registry); // Last, because it determines which processes are running.
    await takeUsage(layout);
    writeUsage(layout, await countDisk(layout));
  });
  return swept;
}

async function sweepRecords({ layout, leases, isExpired }: SweepTools, keys: readonly string[]): Promise<Swept> {
  const inUse = leases.held();
  const usage = await takeUsage(layout);
  let [removed, freedBytes, held] = [0, 0, 0];
  for (const key of keys) {
    const record = readRecord(layout, key);
    if (record === undefined) {
      rmSync(recordPath(layout, key), { force: true, recursive: true }); // Removed in the meantime, or malformed and not counted in the usage.
    } else if (inUse.has(key) && !isBroken(layout, record)) {
      held += 1;
    } else if (isExpired(record.createdAt) || isBroken(layout, record)) {
      forgetBlob(layout, key, record.sha256);
      usage.remove(ownerKey(record.owner), record.size);
      removed += 1;
      freedBytes += record.size;
    }
  }
  writeUsage(layout, usage);
  return { removed, freedBytes, held };
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

/** References without a record, and content without references. Unknown names are ignored. */
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

function sweepDead(directory: string, registry: ProcessRegistry): void {
  for (const name of readdirSync(directory)) {
    const [token = ""] = name.split(".");
    if (!registry.livesByToken(token)) rmSync(path.join(directory, name), { force: true });
  }
}
