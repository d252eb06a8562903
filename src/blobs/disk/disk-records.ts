import { createHash } from "node:crypto";
import { closeSync, openSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import type { SkillsError } from "../../errors.ts";
import { countUsage, quotaRefusal } from "../blob-quota.ts";
import type { BlobOptions, BlobUsage, CountedUsage } from "../blob-quota.ts";
import type { StoredBlob } from "../blob-store.ts";
import { createFlags, everyShard, fileMode, hasCode, isFull, isOwnDirectory, makeDirectory } from "./disk-layout.ts";
import { objectPath, readFlags, recordPath, referencePath, shardOf } from "./disk-layout.ts";
import type { DiskLayout } from "./disk-layout.ts";

/** The content of a record file. Written once; a blob exists if and only if its record exists. */
export interface BlobRecord extends StoredBlob {
  readonly owner: string;
  readonly createdAt: number;
}

const ownId = /^blob:([0-9a-f]{32})$/;
const keyPattern = /^[0-9a-f]{32}$/;

/** The hexadecimal part of an id of this adapter. Undefined for any other text, which is never used in a path. */
export function toKey(id: string): string | undefined {
  return ownId.exec(id)?.[1];
}

/** Undefined if the record is missing or malformed. */
export function readRecord(layout: DiskLayout, key: string): BlobRecord | undefined {
  if (!isOwnDirectory(shardOf(layout.records, key))) return undefined;
  const text = readText(recordPath(layout, key));
  try {
    const record = JSON.parse(text ?? "") as Partial<BlobRecord> | null;
    const understood =
      record?.id === `blob:${key}` &&
      typeof record.owner === "string" &&
      typeof record.kind === "string" &&
      typeof record.sha256 === "string" &&
      /^[0-9a-f]{64}$/.test(record.sha256) &&
      Number.isSafeInteger(record.size) &&
      Number(record.size) >= 0 &&
      typeof record.createdAt === "number";
    return understood ? (record as BlobRecord) : undefined;
  } catch {
    return undefined; // Damaged: the sweep removes it.
  }
}

interface FoundRecord {
  readonly key: string;
  readonly record: BlobRecord | undefined;
}

/** Iterates over all records and yields to the event loop between directories. */
export async function* everyRecord(layout: DiskLayout): AsyncGenerator<FoundRecord> {
  for (const { names } of everyShard(layout.records)) {
    yield* names.filter((key) => keyPattern.test(key)).map((key) => ({ key, record: readRecord(layout, key) }));
    await setImmediate();
  }
}

/** Turns staged content into a blob. Requires the turn; returns an error where the quota is exceeded. */
export function commitBlob(
  layout: DiskLayout,
  { record, key, staged }: { readonly record: BlobRecord; readonly key: string; readonly staged: string },
  quota: Required<BlobOptions>,
): Promise<SkillsError | undefined> {
  return changeUsage(layout, (usage) => {
    const owner = ownerKey(record.owner);
    const refusal = quotaRefusal(usage, owner, record.size, quota);
    if (refusal !== undefined) return refusal;
    makeDirectory(shardOf(layout.objects, record.sha256));
    makeDirectory(shardOf(layout.records, key));
    // Replaces existing identical content, too, which repairs it if it is damaged.
    renameSync(`${staged}.content`, objectPath(layout, record.sha256));
    closeSync(openSync(referencePath(layout, record.sha256, key), createFlags, fileMode));
    renameSync(`${staged}.record`, recordPath(layout, key));
    usage.add(owner, record.size);
    return undefined;
  });
}

/** Removes a blob, and its content unless another blob refers to it. Requires the turn. If interrupted, the sweep does the rest. */
export function removeBlob(
  layout: DiskLayout,
  key: string,
  { sha256, owner, size }: BlobRecord,
  usage: CountedUsage,
): void {
  rmSync(recordPath(layout, key), { force: true });
  rmSync(referencePath(layout, sha256, key), { force: true });
  const content = objectPath(layout, sha256);
  const prefix = `${path.basename(content)}.`;
  if (!readdirSync(path.dirname(content)).some((name) => name.startsWith(prefix))) rmSync(content, { force: true });
  usage.remove(ownerKey(owner), size);
}

/**
 * Runs a change of blobs that keeps their usage up to date. Requires the turn. The file of the usage is missing during the change: if it
 * is missing or inconsistent before, a change was interrupted, and the usage is recounted.
 */
export async function changeUsage<T>(layout: DiskLayout, change: (usage: CountedUsage) => T): Promise<T> {
  const written = parseUsage(readText(layout.usage) ?? "");
  rmSync(layout.usage, { force: true });
  const usage = written ?? (await countDisk(layout));
  const result = change(usage);
  writeUsage(layout, usage);
  return result;
}

/** Recounts the usage. Requires the turn. */
export async function recountUsage(layout: DiskLayout): Promise<void> {
  rmSync(layout.usage, { force: true });
  writeUsage(layout, await countDisk(layout));
}

/** The key of an owner in the usage file, of fixed length. */
export function ownerKey(owner: string): string {
  return createHash("sha256").update(owner).digest("hex").slice(0, 32);
}

async function countDisk(layout: DiskLayout): Promise<CountedUsage> {
  const usage = countUsage();
  for await (const { record } of everyRecord(layout)) {
    if (record !== undefined) usage.add(ownerKey(record.owner), record.size);
  }
  return usage;
}

/** Writes the total usage, then a line for each owner. On a full disk the file is left out, and the next change recounts. */
function writeUsage(layout: DiskLayout, usage: CountedUsage): void {
  const lines = [toText(usage.total), ...Array.from(usage.owners(), ([key, each]) => `${key} ${toText(each)}`)];
  try {
    writeFileSync(layout.usage, `${lines.join("\n")}\n`, { flag: "wx", mode: fileMode });
  } catch (error) {
    if (!isFull(error)) throw error;
    rmSync(layout.usage, { force: true });
  }
}

function toText({ bytes, blobs }: BlobUsage): string {
  return `${bytes} ${blobs}`;
}

/** Undefined unless the owners add up to the total, which they do not in a file truncated by a crash. */
function parseUsage(text: string): CountedUsage | undefined {
  const [total = "", ...lines] = text.split("\n");
  if (lines.pop() !== "") return undefined;
  const owners = lines.map((line): [string, BlobUsage] => {
    const [, key = "", bytes, blobs] = /^([0-9a-f]{32}) (\d+) (\d+)$/.exec(line) ?? [];
    return [key, { bytes: Number(bytes), blobs: Number(blobs) }];
  });
  const usage = countUsage(owners);
  return total === toText(usage.total) ? usage : undefined;
}

/** Undefined if the file is missing, or anything but a file, such as a symlink. */
function readText(file: string): string | undefined {
  try {
    const descriptor = openSync(file, readFlags);
    try {
      return readFileSync(descriptor, "utf8");
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (["ENOENT", "ELOOP", "EISDIR"].some((code) => hasCode(error, code))) return undefined;
    throw error;
  }
}
