import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { ownershipFault } from "../../../base/paths/directories.ts";
import { systemCode } from "../../../base/failures/system-error.ts";

/** Windows has neither flag. Without O_NONBLOCK, opening a FIFO blocks until there is a writer. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>;
const readFlags = constants.O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** Why a file is not used. */
export class UnusableFileError extends Error {
  readonly remedy: string;
  /** Whether it is the user's own file, and may be moved away in favour of a new one. */
  readonly isReplaceable: boolean;

  /** `why` starts with "it"; `remedy` is a sentence. */
  constructor(why: string, remedy: string, { isReplaceable = false }: { readonly isReplaceable?: boolean } = {}) {
    super(why);
    this.remedy = remedy;
    this.isReplaceable = isReplaceable;
  }
}

/** A file written twice within a tick of the disk's clock may keep its stamp, so such a recent one proves nothing. */
const youngMs = 2_000;

export interface OwnFile {
  /** Differs if the content does; undefined while the file is so young that it might not. */
  readonly stamp: string | undefined;
  /** Undefined if the stamp is the known one. */
  readonly text: string | undefined;
}

export interface OwnFileOptions {
  readonly maxBytes: number;
  /** The directories on its path that must be the user's own, the uppermost first. */
  readonly directories: readonly string[];
  readonly known?: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Reads a file that only this user can have written, without following a link or blocking. Undefined if it is missing. Throws `FileFault`
 * for any other file.
 */
export function readOwnFile(file: string, options: OwnFileOptions): OwnFile | undefined {
  const { directories, maxBytes, known, now } = options;
  try {
    for (const directory of directories) {
      const fault = ownershipFault(directory);
      if (fault !== undefined) throw new UnusableFileError(`of its directory ${directory}: ${fault}`, "");
    }
    // Windows follows links.
    if (O_NOFOLLOW === 0 && lstatSync(file).isSymbolicLink()) throw symlink();
    const descriptor = openSync(file, readFlags);
    try {
      const stats = fstatSync(descriptor, { bigint: true });
      checkStats(stats, file, maxBytes);
      const stamp = stampOf(stats, now());
      if (stamp !== undefined && stamp === known) return { stamp, text: undefined };
      return { stamp, text: readText(descriptor, maxBytes) };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (error instanceof UnusableFileError) throw error;
    const code = systemCode(error);
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP") throw symlink();
    throw new UnusableFileError(
      `it cannot be read (${code === "" ? String(error) : code})`,
      "Make it readable, or remove it.",
    );
  }
}

function checkStats(stats: BigIntStats, file: string, maxBytes: number): void {
  if (!stats.isFile()) throw new UnusableFileError("it is not a regular file", "Remove it.");
  const user = process.getuid?.();
  if (user !== undefined && stats.uid !== BigInt(user))
    throw new UnusableFileError("it belongs to another user", "Remove it, or run acp-skills as that user.");
  if (user !== undefined && (stats.mode & 0o022n) !== 0n)
    throw new UnusableFileError(
      "others may write in it",
      `Check what it says, then take that right away: chmod go-w ${file}`,
    );
  if (stats.size > BigInt(maxBytes)) throw tooLarge(maxBytes);
}

/** Reads as much as a file may have, and notices if it grew since its stat. */
function readText(descriptor: number, maxBytes: number): string {
  const chunks: Buffer[] = [];
  for (let size = 0; ;) {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    const length = readSync(descriptor, chunk);
    if (length === 0) break;
    size += length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk.subarray(0, length));
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw damaged("it is not UTF-8 text");
  }
}

function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats, now: number): string | undefined {
  const changed = (mtimeNs > ctimeNs ? mtimeNs : ctimeNs) / 1_000_000n;
  return now - Number(changed) < youngMs ? undefined : `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

/** A file of the user's own whose content cannot be used. */
export function damaged(why: string): UnusableFileError {
  return new UnusableFileError(why, "Correct it, or remove it.", { isReplaceable: true });
}

function tooLarge(maxBytes: number): UnusableFileError {
  return damaged(`it is larger than ${maxBytes / 1024 / 1024} MiB`);
}

function symlink(): UnusableFileError {
  return new UnusableFileError("it is a symlink", "Replace it by the file that it leads to.");
}
