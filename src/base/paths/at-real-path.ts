import { isUtf8 } from "node:buffer";
import {
  type Dirent,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import path from "node:path";
import { attempt, systemCode } from "../failures/system-error.ts";
import { isSkillsError, SkillsError } from "../errors.ts";

/*
 * Anyone who can write to a directory can replace an entry by a symlink at any moment, also between checking and using a path.
 * O_NOFOLLOW protects the last name only. Therefore a file opened by its real path is checked afterwards for where it is, and a
 * directory is listed and written to through its descriptor.
 */

const { O_NOFOLLOW = 0, O_DIRECTORY = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>;

/** For reading. Does not follow a link in the last place or block on a FIFO. Windows has neither flag. */
const plainFlags = constants.O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** Where the kernel exposes the paths of descriptors; undefined elsewhere. */
const descriptors = process.platform === "linux" && exposesPaths("/proc/self/fd") ? "/proc/self/fd" : undefined;

/** The real path of an entry. Faster than `path.join`, because a name needs no normalisation. */
export function joinPath(directory: string, name: string): string {
  return directory.endsWith(path.sep) ? directory + name : directory + path.sep + name;
}

/** Opens a real path, by default for reading. Throws UNREADABLE if a link has replaced part of the path, and file system errors. */
export function openAtRealPath(real: string, flags = plainFlags): number {
  const descriptor = openSync(real, flags);
  if (isOpenAt(descriptor, real)) return descriptor;
  closeSync(descriptor);
  throw replaced(real);
}

/** Opens a real path for reading, asynchronously. Throws like {@link openAtRealPath}. */
export async function openHandleAtRealPath(real: string): Promise<FileHandle> {
  const handle = await open(real, plainFlags);
  if (isOpenAt(handle.fd, real)) return handle;
  await handle.close();
  throw replaced(real);
}

/** Whether a descriptor belongs to this path, without links. */
function isOpenAt(descriptor: number, real: string): boolean {
  if (descriptors !== undefined) {
    const found = readlinkSync(`${descriptors}/${descriptor}`);
    // It was removed or replaced after it was opened.
    return found === real || (found.length === real.length + removed.length && found === real + removed);
  }
  // If it was removed, its path can no longer be determined.
  return attempt(() => {
    if (realpathSync.native(real) !== real) return false;
    if (process.platform === "win32") return true;
    const [opened, there] = [fstatSync(descriptor), statSync(real)];
    return opened.ino === there.ino && opened.dev === there.dev;
  }, false);
}

/** An open directory, unaffected by replacements of its path. */
export interface HeldDirectory {
  /** Resolves to it until it is closed; names may be appended. */
  readonly path: string;
  close(): void;
}

/** Opens the directory at a real path. Throws like `openAtRealPath`. Where descriptors have no paths, it is only checked. */
export function holdDirectory(real: string): HeldDirectory {
  if (descriptors === undefined) {
    if (realpathSync.native(real) !== real) throw replaced(real);
    return { path: real, close: () => undefined };
  }
  const descriptor = openAtRealPath(real, plainFlags | O_DIRECTORY);
  return { path: `${descriptors}/${descriptor}`, close: () => closeSync(descriptor) };
}

/** A directory in one that is held: only its own name is looked up, so nothing else on its path needs to be checked. */
export function holdChild(held: HeldDirectory, name: string, real: string): HeldDirectory {
  if (descriptors === undefined) return holdDirectory(real);
  const descriptor = openSync(`${held.path}/${name}`, plainFlags | O_DIRECTORY);
  return { path: `${descriptors}/${descriptor}`, close: () => closeSync(descriptor) };
}

/** Works in a held directory, and closes it. */
export function within<Result>(held: HeldDirectory, work: (held: HeldDirectory) => Result): Result {
  try {
    return work(held);
  } finally {
    held.close();
  }
}

/** Works in a directory of a held one, whose real path is given. */
export function inChild(
  held: HeldDirectory,
  name: string,
  real: string,
  work: (child: HeldDirectory, path: string) => void,
): void {
  const path = joinPath(real, name);
  within(holdChild(held, name, path), (child) => work(child, path));
}

/** Lists a held directory. A name that is not UTF-8 has lone surrogates, so that no two names are the same text. */
export function listHeld(held: HeldDirectory, real: string): Dirent[] {
  let entries = readdirSync(held.path, { withFileTypes: true });
  // Decoding replaces what is not UTF-8, and so makes names equal; to read them again costs twice as much.
  if (entries.some(({ name }) => name.includes("\ufffd")))
    entries = readdirSync(held.path, { withFileTypes: true, encoding: "latin1" }).map((entry) =>
      Object.assign(entry, { name: toText(Buffer.from(entry.name, "latin1")) }),
    );
  if (descriptors === undefined && realpathSync.native(real) !== real) throw replaced(real);
  return entries;
}

/** Bytes above ASCII of a name that is not UTF-8 become U+DC80 to U+DCFF, as in Python. */
function toText(name: Buffer): string {
  if (isUtf8(name)) return name.toString();
  return name.toString("latin1").replace(/[\x80-\xff]/g, (byte) => String.fromCharCode(0xdc00 + byte.charCodeAt(0)));
}

/** Opens a file in a held directory for reading: only its own name is looked up, so its path needs no check. */
export function openInHeld(held: HeldDirectory, name: string): number {
  const file = `${held.path}/${name}`;
  return descriptors === undefined ? openAtRealPath(path.normalize(file)) : openSync(file, plainFlags);
}

/** Works with an open file, and closes it. */
export function withDescriptor<Result>(descriptor: number, work: (descriptor: number) => Result): Result {
  try {
    return work(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The suffix that the kernel adds to removed paths. */
const removed = " (deleted)";

function exposesPaths(place: string): boolean {
  // False without /proc.
  return attempt(
    () => withDescriptor(openSync("/", plainFlags), (root) => readlinkSync(`${place}/${root}`) === "/"),
    false,
  );
}

function replaced(real: string): SkillsError {
  const facts = { path: real };
  return new SkillsError("UNREADABLE", `${real} cannot be read: it was replaced by a symlink.`, { facts });
}

/**
 * Opens a file for reading without blocking. The directory of its path is real; only its last name may be a link, which people create
 * deliberately. Throws like `openAtRealPath`, and UNREADABLE unless it is a regular file.
 */
export async function openRegularFile(file: string): Promise<FileHandle> {
  const handle = await openHandleAtRealPath(file).catch(async (error: unknown) => {
    if (!isLink(error)) throw error;
    return await openHandleAtRealPath(realpathSync.native(file));
  });
  try {
    if (!(await handle.stat()).isFile()) throw notRegular(file);
  } catch (error) {
    await handle.close();
    throw error;
  }
  return handle;
}

/** Opens a file like {@link openRegularFile}, synchronously, as a descriptor. */
export function openRegularFileSync(file: string): number {
  const descriptor = openOrTarget(file);
  try {
    if (!fstatSync(descriptor).isFile()) throw notRegular(file);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return descriptor;
}

function openOrTarget(file: string): number {
  try {
    return openAtRealPath(file);
  } catch (error) {
    if (!isLink(error)) throw error;
    return openAtRealPath(realpathSync.native(file));
  }
}

/** Reads a regular file from its start; returns the number of bytes. */
export function readInto(descriptor: number, buffer: Buffer, limit = buffer.length): number {
  let length = 0;
  while (length < limit) {
    const wanted = limit - length;
    const count = readSync(descriptor, buffer, length, wanted, length);
    length += count;
    // A short read of a regular file is its end.
    if (count < wanted) break;
  }
  return length;
}

/** Windows opens the target of a link, which is noticed only afterwards. */
function isLink(error: unknown): boolean {
  return process.platform === "win32" ? isSkillsError(error) : systemCode(error) === "ELOOP";
}

function notRegular(file: string): SkillsError {
  return new SkillsError("UNREADABLE", `${file} cannot be read: it is not a regular file.`, { facts: { path: file } });
}
