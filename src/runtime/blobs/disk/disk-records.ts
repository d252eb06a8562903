import { createHash } from "node:crypto";
import { closeSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type FileHandle, open, writeFile } from "node:fs/promises";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import type { SkillsError } from "../../../base/errors.ts";
import { parseIfJson } from "../../../base/json/json-value.ts";
import type { BlobOptions, BlobUsage, StoredBlob } from "../../blobs.ts";
import {
  type DiskLayout,
  SourceFailure,
  createFlags,
  everyShard,
  fileMode,
  isFull,
  isOwnDirectory,
  makeDirectory,
  objectPath,
  readIfFile,
  recordPath,
  referencePath,
  shardOf,
} from "./disk-layout.ts";
import { CountedUsage, blobTooLarge, quotaRefusal } from "../blob-rules.ts";

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

/** The record of a blob; undefined if it is missing or malformed. */
export function readRecord(layout: DiskLayout, key: string): BlobRecord | undefined {
  if (!isOwnDirectory(shardOf(layout.records, key))) return undefined;
  const text = readIfFile(recordPath(layout, key))?.text;
  const record = parseIfJson(text ?? "") as Partial<BlobRecord> | null | undefined;
  const understood =
    record?.id === `blob:${key}` &&
    typeof record.owner === "string" &&
    typeof record.kind === "string" &&
    typeof record.sha256 === "string" &&
    /^[0-9a-f]{64}$/.test(record.sha256) &&
    Number.isSafeInteger(record.size) &&
    Number(record.size) >= 0 &&
    typeof record.createdAt === "number";
  // The sweep removes damaged records.
  return understood ? (record as BlobRecord) : undefined;
}

/** Iterates over all records and yields to the event loop between directories. */
export async function* everyRecord(
  layout: DiskLayout,
): AsyncGenerator<{ readonly key: string; readonly record: BlobRecord | undefined }> {
  for (const { names } of everyShard(layout.records)) {
    yield* names.filter((key) => keyPattern.test(key)).map((key) => ({ key, record: readRecord(layout, key) }));
    await setImmediate();
  }
}

/** The size of a slice for writing and hashing. */
const sliceBytes = 512 * 1024;

export interface StagingOptions<Record> {
  readonly limitBytes: number;
  readonly signal: AbortSignal | undefined;
  /** Writes the record of the content while the content is being synced. */
  readonly record: (staged: Pick<StoredBlob, "size" | "sha256">) => Promise<Record>;
}

/**
 * Writes the content to a new file and resolves when it is durable, so that no name can lead to incomplete content. Hashes while
 * writing and joins small chunks; at most two slices and one chunk are in memory.
 * After a failure, the caller removes the file.
 */
export async function stageContent<Record>(
  file: string,
  content: Uint8Array | AsyncIterable<Uint8Array>,
  { limitBytes, signal, record }: StagingOptions<Record>,
): Promise<Record> {
  const handle = await open(file, createFlags, fileMode);
  try {
    const hash = createHash("sha256");
    let size = 0;
    let writing = Promise.resolve();
    for await (const { bytes, isOurs } of toSlices(fromSource(content, signal))) {
      size += bytes.length;
      await writing;
      if (size > limitBytes) throw blobTooLarge(limitBytes);
      writing = writeWhole(handle, bytes);
      // Awaited below. Prevents an unhandled rejection in the meantime.
      writing.catch(() => undefined);
      hash.update(bytes);
      // The source may reuse its chunk.
      if (!isOurs) await writing;
    }
    await writing;
    const syncing = handle.sync();
    // Awaited below. Prevents an unhandled rejection in the meantime.
    syncing.catch(() => undefined);
    const recorded = await record({ size, sha256: hash.digest("hex") });
    await syncing;
    return recorded;
  } finally {
    await handle.close();
  }
}

/** Writes a new small file and syncs its content, but not its directory entry. */
export async function writeDurably(file: string, text: string): Promise<void> {
  await writeFile(file, text, { flag: createFlags, mode: fileMode, flush: true });
}

/** Joins small chunks, as of pipes and sockets: each write uses another thread. Fills a slice while another is written. */
async function* toSlices(chunks: AsyncIterable<Uint8Array>) {
  let slice: Buffer | undefined;
  let spare: Buffer | undefined;
  let filled = 0;
  for await (const chunk of chunks) {
    if (filled + chunk.length > sliceBytes && slice !== undefined) {
      yield { bytes: slice.subarray(0, filled), isOurs: true };
      [slice, spare, filled] = [spare, slice, 0];
    }
    if (chunk.length >= sliceBytes) {
      yield { bytes: chunk, isOurs: false };
      continue;
    }
    slice ??= Buffer.allocUnsafeSlow(sliceBytes);
    slice.set(chunk, filled);
    filled += chunk.length;
  }
  if (slice !== undefined && filled > 0) yield { bytes: slice.subarray(0, filled), isOurs: true };
}

async function writeWhole(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let done = 0; done < chunk.length;) {
    done += (await handle.write(chunk, done, chunk.length - done)).bytesWritten;
  }
}

/** The chunks of the source. Wraps errors of the source and the reason of the signal, but not errors of the consumer. */
async function* fromSource(
  content: Uint8Array | AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  try {
    signal?.throwIfAborted();
    for await (const chunk of content instanceof Uint8Array ? cut(content) : content) {
      signal?.throwIfAborted();
      yield chunk;
    }
    signal?.throwIfAborted();
  } catch (cause) {
    throw new SourceFailure("the source of a blob failed", { cause });
  }
}

function* cut(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += sliceBytes) yield bytes.subarray(at, at + sliceBytes);
}

/** Turns staged content into a blob. Requires the turn; returns an error if the quota is exceeded. */
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
    usage.change(owner, record.size, 1);
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
  usage.change(ownerKey(owner), -size, -1);
}

/**
 * Runs a change of blobs, and updates their usage. Requires the turn. The usage file is missing during the change. If it is missing or
 * inconsistent before, a change was interrupted, and the usage is recounted.
 */
export async function changeUsage<T>(layout: DiskLayout, change: (usage: CountedUsage) => T): Promise<T> {
  const written = parseUsage(readIfFile(layout.usage)?.text ?? "");
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
  const usage = new CountedUsage();
  for await (const { record } of everyRecord(layout)) {
    if (record !== undefined) usage.change(ownerKey(record.owner), record.size, 1);
  }
  return usage;
}

/** Writes the total usage, then a line for each owner. On a full disk the file is left out, and the next change recounts. */
function writeUsage(layout: DiskLayout, usage: CountedUsage): void {
  const lines = [toText(usage.total), ...Array.from(usage.owners, ([key, each]) => `${key} ${toText(each)}`)];
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

/** Parses the usage file; undefined unless the owners add up to the total, which they do not in a file truncated by a crash. */
function parseUsage(text: string): CountedUsage | undefined {
  const [total = "", ...lines] = text.split("\n");
  if (lines.pop() !== "") return undefined;
  const owners = lines.map((line): [string, BlobUsage] => {
    const [, key = "", bytes, blobs] = /^([0-9a-f]{32}) (\d+) (\d+)$/.exec(line) ?? [];
    return [key, { bytes: Number(bytes), blobs: Number(blobs) }];
  });
  const usage = new CountedUsage(owners);
  return total === toText(usage.total) ? usage : undefined;
}
