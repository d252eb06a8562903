import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import path from "node:path";
import { systemCode } from "../../../base/failures/system-error.ts";
import { SkillsError } from "../../../base/errors.ts";
import type { StoredBlob } from "../../blobs.ts";
import { type DiskLayout, isOwnDirectory, objectPath, readFlags } from "./disk-layout.ts";

const chunkBytes = 64 * 1024;
/** Larger than a chunk, because each read uses another thread. */
const readBytes = 4 * chunkBytes;
const hashBytes = 512 * 1024;
const maxVerified = 4096;

/**
 * Reads a range of content. Hashes all content first, even for a small range, but only once per version of the file: `verified` has the
 * intact versions. Undefined if the content is missing. Throws INTERNAL if it is damaged; at the end of the range, if the file was changed
 * in place during the read. The range must be iterated, which closes the file.
 */
export async function openContent(
  layout: DiskLayout,
  { sha256, size }: Pick<StoredBlob, "sha256" | "size">,
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
      if (verified.size > maxVerified && oldest !== undefined) verified.delete(oldest);
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

/** Reads the next chunk while the caller processes the current one. Ends early if the file does. */
async function* readChunks(handle: FileHandle, start: number, end: number): AsyncGenerator<Uint8Array> {
  let ahead = readChunk(handle, start, end);
  for (let at = start; at < end;) {
    const { buffer, bytesRead } = await ahead;
    if (bytesRead === 0) return; // The file was shortened, which the fingerprint shows.
    at += bytesRead;
    ahead = readChunk(handle, at, end);
    for (let from = 0; from < bytesRead; from += chunkBytes)
      yield buffer.subarray(from, Math.min(from + chunkBytes, bytesRead));
  }
}

function readChunk(handle: FileHandle, at: number, end: number): Promise<{ buffer: Uint8Array; bytesRead: number }> {
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
    if (systemCode(error) === "ENOENT") return undefined;
    if (systemCode(error) === "ELOOP") throw damaged(sha256);
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

/** The SHA-256 of a file; undefined unless the file has exactly this size. */
async function digest(handle: FileHandle, size: number): Promise<string | undefined> {
  const stats = await handle.stat();
  if (!stats.isFile() || stats.size !== size) return undefined;
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(Math.min(hashBytes, size));
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
