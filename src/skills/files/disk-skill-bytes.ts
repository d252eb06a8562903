import { createHash, hash } from "node:crypto";
import { closeSync, fstatSync, readSync } from "node:fs";
import type { Stats } from "node:fs";
import { openAtRealPath, openHandleAtRealPath } from "../../base/paths/at-real-path.ts";
import { isSkillsError, SkillsError } from "../../errors.ts";
import type { SkillBytes } from "./skill-files.ts";

/** Smaller files are read synchronously, which costs less than opening them asynchronously. */
const maxAtOnce = 256 * 1024;
/** A file written twice within a tick of the disk's clock keeps its times, so such a recent stamp proves nothing. */
const racyMs = 100;

/** Bytes on disk. `now` is in milliseconds since 1970, like the disk's times. */
export function diskSkillBytes({ now = Date.now }: { readonly now?: () => number } = {}): SkillBytes {
  const shared = Buffer.allocUnsafeSlow(maxAtOnce);
  return {
    stamp: (file) =>
      withFile(file, (_descriptor, { size, mtimeMs, ctimeMs, ino, dev }) => {
        const isYoung = now() - Math.max(mtimeMs, ctimeMs) < racyMs;
        return { size, version: isYoung ? undefined : `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}` };
      }),
    head: (file, limit) =>
      withFile(file, (descriptor, { size }) => {
        const buffer = Buffer.allocUnsafe(Math.min(size, limit));
        return { bytes: buffer.subarray(0, fill(descriptor, buffer)), size };
      }),
    sha256(file, signal) {
      signal.throwIfAborted();
      const quick = withFile(file, (descriptor, { size }) => {
        if (size >= maxAtOnce) return "large";
        const length = fill(descriptor, shared);
        // The file may have grown since its stat.
        return length < maxAtOnce ? hash("sha256", shared.subarray(0, length), "hex") : "large";
      });
      return quick === "large" ? hashInPieces(file, signal) : quick;
    },
  };
}

async function hashInPieces(file: string, signal: AbortSignal): Promise<string | undefined> {
  const digest = createHash("sha256");
  try {
    const handle = await openHandleAtRealPath(file);
    try {
      if (!(await handle.stat()).isFile()) return undefined;
      const buffer = Buffer.allocUnsafe(maxAtOnce);
      for (;;) {
        signal.throwIfAborted();
        const { bytesRead } = await handle.read(buffer, 0, buffer.length);
        if (bytesRead === 0) return digest.digest("hex");
        digest.update(buffer.subarray(0, bytesRead));
      }
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (signal.aborted) throw error;
    throwUnlessAbsent(file, error);
    return undefined;
  }
}

function withFile<Value>(file: string, read: (descriptor: number, stats: Stats) => Value): Value | undefined {
  try {
    const descriptor = openAtRealPath(file);
    try {
      const stats = fstatSync(descriptor);
      return stats.isFile() ? read(descriptor, stats) : undefined;
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throwUnlessAbsent(file, error);
    return undefined;
  }
}

function fill(descriptor: number, buffer: Buffer): number {
  let length = 0;
  for (let count = -1; count !== 0 && length < buffer.length; length += count) {
    count = readSync(descriptor, buffer, length, buffer.length - length, length);
  }
  return length;
}

function throwUnlessAbsent(file: string, error: unknown): void {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (["ENOENT", "ENOTDIR", "ELOOP", "EISDIR", "ENXIO", "ENAMETOOLONG"].includes(String(code))) return;
  if (isSkillsError(error)) throw error;
  throw new SkillsError("UNREADABLE", `${file} cannot be read: ${String(error)}.`, {
    cause: error,
    facts: { path: file },
  });
}
