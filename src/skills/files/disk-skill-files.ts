import { createHash, hash } from "node:crypto";
import { type Dirent, type Stats, fstatSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { attempt, systemCode, systemReason } from "../../base/failures/system-error.ts";
import {
  type HeldDirectory,
  holdChild,
  holdDirectory,
  listHeld,
  openAtRealPath,
  openHandleAtRealPath,
  openInHeld,
  openRegularFileSync,
  readInto,
  withDescriptor,
} from "../../base/paths/at-real-path.ts";
import { SkillsError, isSkillsError } from "../../base/errors.ts";
import type { DirectoryEntry, FileStamp, Head, SkillBytes, SkillFiles } from "../files.ts";

/** The size below which files are read synchronously, which costs less than opening them asynchronously. */
const maxAtOnce = 256 * 1024;
/** The minimum age of a stamp that counts: a file written twice within a tick of the disk's clock has the same times. */
const racyMs = 100;
/** The entry of nearly every skill directory, shared by all of them. */
const skillEntry: DirectoryEntry = Object.freeze({ name: "SKILL.md", kind: "file", link: false });

/** Skills on disk. The bytes of a head are valid until the next head is read: all heads share one buffer. */
export function diskSkillFiles(): SkillFiles {
  let buffer = Buffer.allocUnsafeSlow(4096);
  const held = new HeldDirectories();
  return {
    list(directory) {
      try {
        return held.list(directory);
      } catch (error) {
        throw unreadable(directory, error);
      }
    },
    head(file, limit) {
      if (buffer.length < limit) buffer = Buffer.allocUnsafeSlow(limit);
      try {
        return readHead(held.open(file), limit, buffer);
      } catch (error) {
        throw unreadable(file, error);
      }
    },
    resolve(target) {
      try {
        return realpathSync.native(target);
      } catch (error) {
        throwUnlessAbsent(target, error);
        return undefined;
      }
    },
  };
}

/** Bytes on disk. `now` is in milliseconds since 1970, like the disk's times. */
export function diskSkillBytes({ now = Date.now }: { readonly now?: () => number } = {}): SkillBytes {
  const shared = Buffer.allocUnsafeSlow(maxAtOnce);
  const toStamp = ({ size, mtimeMs, ctimeMs, ino, dev }: Stats): FileStamp => {
    const isYoung = now() - Math.max(mtimeMs, ctimeMs) < racyMs;
    return { size, version: isYoung ? undefined : `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}` };
  };
  return {
    stamp: (file) => withFile(file, (_descriptor, stats) => toStamp(stats)),
    head: (file, limit) =>
      withFile(file, (descriptor, stats) => {
        const buffer = Buffer.allocUnsafe(Math.min(stats.size, limit));
        return { bytes: buffer.subarray(0, readInto(descriptor, buffer)), ...toStamp(stats) };
      }),
    sha256(file, signal) {
      signal.throwIfAborted();
      const quick = withFile(file, (descriptor, { size }) => {
        if (size >= maxAtOnce) return "large";
        const length = readInto(descriptor, shared, maxAtOnce);
        // The file may have grown since its stat.
        return length < maxAtOnce ? hash("sha256", shared.subarray(0, length), "hex") : "large";
      });
      return quick === "large" ? hashInPieces(file, signal) : quick;
    },
  };
}

/**
 * Directories that stay open between calls, so that a path is checked for links once. They are the directory listed last, for its
 * SKILL.md, and the parent of that one, for its siblings. Both are closed when the current synchronous stretch of work ends.
 */
class HeldDirectories {
  /** The directory listed last, if its SKILL.md is a regular file. */
  #listed: { readonly path: string; readonly held: HeldDirectory } | undefined;
  #parent: { readonly prefix: string; readonly held: HeldDirectory } | undefined;
  /** The parent of the last directory that had no held parent. If the next directory has the same parent, the parent is worth holding. */
  #missedPrefix = "";
  #isReleasePlanned = false;

  list(directory: string): readonly DirectoryEntry[] {
    this.#releaseListed();
    const held = this.#hold(directory);
    let hasSkill = false;
    try {
      const entries = listHeld(held, directory).map((entry) => toEntry(directory, entry));
      hasSkill = entries.includes(skillEntry);
      return entries;
    } finally {
      if (hasSkill) {
        this.#listed = { path: directory, held };
        this.#planRelease();
      } else held.close();
    }
  }

  open(file: string): number {
    const listed = this.#listed;
    if (listed === undefined || !isSkillFileOf(listed.path, file)) return openRegularFileSync(file);
    try {
      return openInHeld(listed.held, skillEntry.name);
    } catch {
      return openRegularFileSync(file);
    } finally {
      this.#releaseListed();
    }
  }

  #hold(directory: string): HeldDirectory {
    const nameAt = directory.lastIndexOf(path.sep) + 1;
    if (this.#parent?.prefix.length !== nameAt || !directory.startsWith(this.#parent.prefix)) {
      const prefix = directory.slice(0, nameAt);
      if (prefix !== this.#missedPrefix || nameAt <= 1) {
        this.#missedPrefix = prefix;
        return holdDirectory(directory);
      }
      this.#releaseParent();
      try {
        this.#parent = { prefix, held: holdDirectory(prefix.slice(0, -1)) };
      } catch {
        // The parent may be searchable but not readable, and its subdirectories may still be listable.
        return holdDirectory(directory);
      }
      this.#planRelease();
    }
    return holdChild(this.#parent.held, directory.slice(nameAt), directory);
  }

  #planRelease(): void {
    if (this.#isReleasePlanned) return;
    this.#isReleasePlanned = true;
    queueMicrotask(() => {
      this.#isReleasePlanned = false;
      this.#missedPrefix = "";
      this.#releaseListed();
      this.#releaseParent();
    });
  }

  #releaseListed(): void {
    this.#listed?.held.close();
    this.#listed = undefined;
  }

  #releaseParent(): void {
    this.#parent?.held.close();
    this.#parent = undefined;
  }
}

function readHead(descriptor: number, limit: number, buffer: Buffer): Head {
  return withDescriptor(descriptor, () => {
    const length = readInto(descriptor, buffer, limit);
    // Creating a view costs as much as reading a small file.
    return { bytes: length === buffer.length ? buffer : buffer.subarray(0, length), whole: length < limit };
  });
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
    return withDescriptor(openAtRealPath(file), (descriptor) => {
      const stats = fstatSync(descriptor);
      return stats.isFile() ? read(descriptor, stats) : undefined;
    });
  } catch (error) {
    throwUnlessAbsent(file, error);
    return undefined;
  }
}

/** Whether a path is the SKILL.md in a directory. Creates no string for the comparison. */
function isSkillFileOf(directory: string, file: string): boolean {
  return (
    file.startsWith(directory) &&
    file.endsWith(path.sep + skillEntry.name) &&
    file.length <= directory.length + 1 + skillEntry.name.length
  );
}

function toEntry(directory: string, entry: Dirent): DirectoryEntry {
  const { name } = entry;
  if (entry.isFile()) return name === skillEntry.name ? skillEntry : { name, kind: "file", link: false };
  if (entry.isDirectory()) return { name, kind: "directory", link: false };
  if (!entry.isSymbolicLink()) return { name, kind: "other", link: false };
  return { name, kind: linkedKind(path.join(directory, name)), link: true };
}

function linkedKind(link: string): DirectoryEntry["kind"] {
  const stats = attempt(() => statSync(link), undefined);
  // Missing, a loop, or behind a directory without permission: treated alike.
  if (stats === undefined) return "dangling";
  return stats.isFile() ? "file" : stats.isDirectory() ? "directory" : "other";
}

/** The codes for: nothing exists at this path, or it is not a regular file. */
const absent: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EISDIR", "ENXIO", "ENAMETOOLONG"]);

function unreadable(target: string, error: unknown): SkillsError {
  if (isSkillsError(error)) return error;
  const facts = { path: target, reason: systemCode(error) };
  const message = `${target} cannot be read: ${systemReason(error)}.`;
  return new SkillsError("UNREADABLE", message, { cause: error, facts });
}

function throwUnlessAbsent(target: string, error: unknown): void {
  if (!absent.has(systemCode(error))) throw unreadable(target, error);
}
