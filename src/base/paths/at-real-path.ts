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
 * Anyone who can write to a directory can replace an entry by a symlink at any moment, also between checking and using a path. O_NOFOLLOW
 * protects the last name only. Therefore a file opened by its real path is checked afterwards for its actual path. A directory is listed
 * and written to through its descriptor.
 */

const { O_NOFOLLOW = 0, O_DIRECTORY = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>;

/** Flags for reading. The last name must not be a link, and a FIFO does not block. Windows has neither flag. */
const plainFlags = constants.O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** The directory in which the kernel exposes the paths of descriptors; undefined if there is none. */
const descriptors = process.platform === "linux" && exposesPaths("/proc/self/fd") ? "/proc/self/fd" : undefined;

/** The path of an entry of a directory. Faster than `path.join`, because a name needs no normalisation. */
export function joinPath(directory: string, name: string): string {
  return directory.endsWith(path.sep) ? directory + name : directory + path.sep + name;
}

/** Opens a real path, by default for reading. Throws UNREADABLE if a link has replaced a segment of the path, and file system errors. */
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
    // The suffix shows that it was removed or replaced after it was opened.
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
  /** A path that leads to the directory until it is closed; names may be appended. */
  readonly path: string;
  close(): void;
}

/** Opens the directory at a real path. Throws like `openAtRealPath`. If descriptors have no paths here, the path is checked only once. */
export function holdDirectory(real: string): HeldDirectory {
  if (descriptors === undefined) {
    if (realpathSync.native(real) !== real) throw replaced(real);
    return { path: real, close: () => undefined };
  }
  const descriptor = openAtRealPath(real, plainFlags | O_DIRECTORY);
  return { path: `${descriptors}/${descriptor}`, close: () => closeSync(descriptor) };
}

/** Opens a directory in a held directory. Only the name of the inner one is looked up, so nothing else on its path needs a check. */
export function holdChild(held: HeldDirectory, name: string, real: string): HeldDirectory {
  if (descriptors === undefined) return holdDirectory(real);
  const descriptor = openSync(`${held.path}/${name}`, plainFlags | O_DIRECTORY);
  return { path: `${descriptors}/${descriptor}`, close: () => closeSync(descriptor) };
}

/** Runs `work` with a held directory, and closes the directory. */
export function within<Result>(held: HeldDirectory, work: (held: HeldDirectory) => Result): Result {
  try {
    return work(held);
  } finally {
    held.close();
  }
}

/** Runs `work` with an entry of a held directory, whose real path is given, and closes the entry. */
export function inChild(
  held: HeldDirectory,
  name: string,
  real: string,
  work: (child: HeldDirectory, path: string) => void,
): void {
  const path = joinPath(real, name);
  within(holdChild(held, name, path), (child) => work(child, path));
}

/** Lists a held directory. Names that are not UTF-8 get lone surrogates, so that all names remain different. */
export function listHeld(held: HeldDirectory, real: string): Dirent[] {
  let entries = readdirSync(held.path, { withFileTypes: true });
  // Decoding replaces bytes that are not UTF-8, which can make names equal. Reading the names again costs twice as much.
  if (entries.some(({ name }) => name.includes("\ufffd")))
    entries = readdirSync(held.path, { withFileTypes: true, encoding: "latin1" }).map((entry) =>
      Object.assign(entry, { name: toText(Buffer.from(entry.name, "latin1")) }),
    );
  if (descriptors === undefined && realpathSync.native(real) !== real) throw replaced(real);
  return entries;
}

/** Turns the bytes above ASCII of a name that is not UTF-8 into U+DC80 to U+DCFF, as Python does. */
function toText(name: Buffer): string {
  if (isUtf8(name)) return name.toString();
  return name.toString("latin1").replace(/[\x80-\xff]/g, (byte) => String.fromCharCode(0xdc00 + byte.charCodeAt(0)));
}

/** Opens a file in a held directory for reading: only its own name is looked up, so its path needs no check. */
export function openInHeld(held: HeldDirectory, name: string): number {
  const file = `${held.path}/${name}`;
  return descriptors === undefined ? openAtRealPath(path.normalize(file)) : openSync(file, plainFlags);
}

/** Runs `work` with an open file, and closes the file. */
export function withDescriptor<Result>(descriptor: number, work: (descriptor: number) => Result): Result {
  try {
    return work(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The suffix that the kernel adds to removed paths. */
const removed = " (deleted)";

function exposesPaths(link: string): boolean {
  // False without /proc.
  return attempt(
    () => withDescriptor(openSync("/", plainFlags), (root) => readlinkSync(`${link}/${root}`) === "/"),
    false,
  );
}

function replaced(real: string): SkillsError {
  const facts = { path: real };
  return new SkillsError("UNREADABLE", `${real} cannot be read: it was replaced by a symlink.`, { facts });
}

/**
 * Opens a file for reading without blocking. The directory of its path is real; only its last name may be a link, which users create
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

/** Reads a regular file from its start into `buffer`; returns the number of bytes. */
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

/** Whether an error means that a file is a link. Windows opens the target of a link, which is noticed only afterwards. */
function isLink(error: unknown): boolean {
  return process.platform === "win32" ? isSkillsError(error) : systemCode(error) === "ELOOP";
}

function notRegular(file: string): SkillsError {
  return new SkillsError("UNREADABLE", `${file} cannot be read: it is not a regular file.`, { facts: { path: file } });
}
