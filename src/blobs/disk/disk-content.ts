import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import path from "node:path";
import { SkillsError } from "../../errors.ts";
import { blobTooLarge } from "../blob-store.ts";
import type { StoredBlob } from "../blob-store.ts";
import { SourceFailure, createFlags, fileMode, hasCode, isOwnDirectory, objectPath, readFlags } from "./disk-layout.ts";
import type { DiskLayout } from "./disk-layout.ts";

const chunkBytes = 64 * 1024;
/** Larger than a chunk, because each read uses another thread. */
const readBytes = 4 * chunkBytes;
/** For writing and hashing. */
const sliceBytes = 512 * 1024;
const verifiedKept = 4096;

type Digest = Pick<StoredBlob, "size" | "sha256">;

export interface StagingOptions<Record> {
  readonly limitBytes: number;
  readonly signal: AbortSignal | undefined;
  /** Writes the record of the content while the content is being synced. */
  readonly record: (staged: Digest) => Promise<Record>;
}

/**
 * Writes the content to a new file and resolves when it is durable, so that no name can lead to incomplete content. Hashes while
 * writing and joins small chunks; at most one slice and one chunk are in memory.
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
    for await (const slice of toSlices(fromSource(content, signal))) {
      size += slice.length;
      if (size > limitBytes) throw blobTooLarge(limitBytes);
      const written = writeWhole(handle, slice);
      hash.update(slice);
      await written;
    }
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
  const handle = await open(file, createFlags, fileMode);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Joins small chunks, because each write uses another thread, and pipes and sockets produce small ones. Reuses the memory of a slice. */
async function* toSlices(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let slice: Buffer | undefined;
  let filled = 0;
  for await (const chunk of chunks) {
    if (filled + chunk.length > sliceBytes && slice !== undefined) {
      yield slice.subarray(0, filled);
      filled = 0;
    }
    if (chunk.length >= sliceBytes) {
      yield chunk;
      continue;
    }
    slice ??= Buffer.allocUnsafeSlow(sliceBytes);
    slice.set(chunk, filled);
    filled += chunk.length;
  }
  if (slice !== undefined && filled > 0) yield slice.subarray(0, filled);
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

/**
 * Reads a range of content after hashing all of it, even for a small range, but only once per version of the file: `verified` keeps which
 * versions were found intact. Undefined if the content is missing. Throws INTERNAL if it is damaged, at the end of the range if the file
 * was changed in place during the read. The range must be iterated, which closes the file.
 */
export async function openContent(
  layout: DiskLayout,
  { sha256, size }: Digest,
  { start, end }: { readonly start: number; readonly end: number },
  verified: Set<string>,
): Promise<AsyncGenerator<Uint8Array> | undefined> {
  const handle = await openObject(layout, sha256);
  if (handle === undefined) return undefined;
  try {
    const print = await fingerprint(handle, sha256);
    if (!verified.has(print)) {
      if ((await digest(handle, size)) !== sha256 || print !== (await fingerprint(handle, sha256)))
        throw damaged(sha256);
      verified.add(print);
      const [oldest] = verified;
      if (verified.size > verifiedKept && oldest !== undefined) verified.delete(oldest);
    }
    return readIntact(handle, { start, end, sha256, print });
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function* readIntact(
  handle: FileHandle,
  { start, end, sha256, print }: { start: number; end: number; sha256: string; print: string },
): AsyncGenerator<Uint8Array> {
  try {
    yield* readChunks(handle, start, end);
    if (print !== (await fingerprint(handle, sha256))) throw damaged(sha256);
  } finally {
    await handle.close();
  }
}

/** Reads the next part while the caller processes the current one. Ends early where the file does. */
async function* readChunks(handle: FileHandle, start: number, end: number): AsyncGenerator<Uint8Array> {
  let ahead = readPart(handle, start, end);
  for (let at = start; at < end;) {
    const { buffer, bytesRead } = await ahead;
    if (bytesRead === 0) return; // Shortened, which the fingerprint shows.
    at += bytesRead;
    ahead = readPart(handle, at, end);
    for (let from = 0; from < bytesRead; from += chunkBytes)
      yield buffer.subarray(from, Math.min(from + chunkBytes, bytesRead));
  }
}

function readPart(handle: FileHandle, at: number, end: number): Promise<{ buffer: Uint8Array; bytesRead: number }> {
  const buffer = new Uint8Array(Math.min(readBytes, end - at));
  const reading = handle.read(buffer, 0, buffer.length, at);
  // A reader that stops early does not await this.
  reading.catch(() => undefined);
  return reading;
}

async function openObject(layout: DiskLayout, sha256: string): Promise<FileHandle | undefined> {
  const file = objectPath(layout, sha256);
  if (!isOwnDirectory(path.dirname(file))) return undefined;
  try {
    return await open(file, readFlags);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    if (hasCode(error, "ELOOP")) throw damaged(sha256);
    throw error;
  }
}

/**
 * Identifies the version of a file by inode, modification time and size. Not by ctime, which also changes when the file is removed or
 * replaced by an identical one during a read.
 */
async function fingerprint(handle: FileHandle, sha256: string): Promise<string> {
  const { ino, mtimeNs, size } = await handle.stat({ bigint: true });
  return `${sha256} ${ino} ${mtimeNs} ${size}`;
}

/** Undefined unless the file has exactly that size. */
async function digest(handle: FileHandle, size: number): Promise<string | undefined> {
  const stats = await handle.stat();
  if (!stats.isFile() || stats.size !== size) return undefined;
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(Math.min(sliceBytes, size));
  for (let at = 0; at < size;) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) return undefined;
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return hash.digest("hex");
}

function damaged(sha256: string): SkillsError {
  return new SkillsError("INTERNAL", "The blob's bytes on disk are damaged; it cannot be read.", { facts: { sha256 } });
}
