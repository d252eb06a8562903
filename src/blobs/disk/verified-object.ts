import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import path from "node:path";
import { SkillsError } from "../../errors.ts";
import { hasCode, isOwnDirectory, objectPath, readFlags } from "./disk-layout.ts";
import type { DiskLayout } from "./disk-layout.ts";

const chunkBytes = 64 * 1024;
/** Larger than a chunk, because each read uses another thread. */
const readBytes = 4 * chunkBytes;
const hashChunkBytes = 512 * 1024;
const verifiedKept = 4096;

/** Reads content, but only after its digest was verified. */
export interface VerifiedObjects {
  /**
   * Opens verified content; the caller closes it. Undefined if it is missing. The whole content is hashed before the first byte is
   * returned, even for a small range, but only once per version of the file.
   */
  open(
    layout: DiskLayout,
    object: { readonly sha256: string; readonly size: number },
  ): Promise<VerifiedObject | undefined>;
}

interface VerifiedObject {
  /** Throws INTERNAL at the end if the file was changed in place during the read. */
  chunks(start: number, end: number): AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

export function verifiedObjects(): VerifiedObjects {
  const verified = new Set<string>();
  const remember = (print: string): void => {
    verified.add(print);
    const [oldest] = verified;
    if (verified.size > verifiedKept && oldest !== undefined) verified.delete(oldest);
  };
  const verify = async (handle: FileHandle, sha256: string, size: number): Promise<string> => {
    const print = `${sha256} ${await fingerprint(handle)}`;
    if (verified.has(print)) return print;
    if ((await digest(handle, size)) !== sha256) throw damaged(sha256);
    if (print !== `${sha256} ${await fingerprint(handle)}`) throw damaged(sha256);
    remember(print);
    return print;
  };

  return {
    async open(layout, { sha256, size }) {
      const handle = await openObject(layout, sha256);
      if (handle === undefined) return undefined;
      try {
        const print = await verify(handle, sha256, size);
        return {
          async *chunks(start, end) {
            let ahead = readAhead(handle, start, end);
            for (let at = start; at < end;) {
              const { buffer, bytesRead } = await ahead;
              if (bytesRead === 0) throw damaged(sha256);
              at += bytesRead;
              ahead = readAhead(handle, at, end);
              for (let from = 0; from < bytesRead; from += chunkBytes)
                yield buffer.subarray(from, Math.min(from + chunkBytes, bytesRead));
            }
            if (print !== `${sha256} ${await fingerprint(handle)}`) throw damaged(sha256);
          },
          close: () => handle.close(),
        };
      } catch (error) {
        await handle.close();
        throw error;
      }
    },
  };
}

/** Reads the next chunk while the caller processes the current one. */
function readAhead(handle: FileHandle, at: number, end: number): Promise<{ buffer: Uint8Array; bytesRead: number }> {
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
async function fingerprint(handle: FileHandle): Promise<string> {
  const stats = await handle.stat({ bigint: true });
  return stats.isFile() ? `${stats.ino} ${stats.mtimeNs} ${stats.size}` : "no file";
}

/** Undefined unless the file has exactly that size. */
async function digest(handle: FileHandle, size: number): Promise<string | undefined> {
  const stats = await handle.stat();
  if (!stats.isFile() || stats.size !== size) return undefined;
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(Math.min(hashChunkBytes, size));
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
