import { closeSync, constants, fstatSync, openSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import type { Dirent } from "node:fs";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import path from "node:path";
import { SkillsError } from "../errors.ts";

/*
 * Whoever may write in a directory can put a link in the place of anything in it, at any moment: also between the look at a
 * path and its use. The last name is guarded by O_NOFOLLOW, the others are not. So what is opened by a real path is asked
 * afterwards where it lies, and a directory is listed and written to through its descriptor.
 */

const { O_NOFOLLOW = 0, O_DIRECTORY = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>;

/** For reading. Follows no link in the last place; never waits for the other end of a FIFO. Windows knows neither. */
const plainFlags = constants.O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** Where the kernel tells what a descriptor is, by name; undefined where it does not. */
const descriptors = process.platform === "linux" && tellsNames("/proc/self/fd") ? "/proc/self/fd" : undefined;

/**
 * Opens what lies at a real path, for reading unless `flags` say otherwise. Throws UNREADABLE where a link on the way leads
 * elsewhere by now, and what the file system throws.
 */
export function openAtRealPath(real: string, flags = plainFlags): number {
  const descriptor = openSync(real, flags);
  if (isOpenAt(descriptor, real)) return descriptor;
  closeSync(descriptor);
  throw replaced(real);
}

/** The same without waiting for the disk, for reading. */
export async function openHandleAtRealPath(real: string): Promise<FileHandle> {
  const handle = await open(real, plainFlags);
  if (isOpenAt(handle.fd, real)) return handle;
  await handle.close();
  throw replaced(real);
}

/** Whether what is open lies at this path, with no link on the way. */
function isOpenAt(descriptor: number, real: string): boolean {
  if (descriptors !== undefined) {
    const found = readlinkSync(`${descriptors}/${descriptor}`);
    // What was removed or replaced after it was opened did lie there.
    return found === real || (found.length === real.length + removed.length && found === real + removed);
  }
  try {
    if (realpathSync.native(real) !== real) return false;
    if (process.platform === "win32") return true;
    const [opened, there] = [fstatSync(descriptor), statSync(real)];
    return opened.ino === there.ino && opened.dev === there.dev;
  } catch {
    return false; // It is gone: nothing tells any more where it lay.
  }
}

/** A directory that stays the same whatever takes its place. */
export interface HeldDirectory {
  /** Leads to it, until it is closed; names may be appended. */
  readonly path: string;
  close(): void;
}

/** The directory at a real path. Throws as `openAtRealPath` does. Where descriptors have no names it is only looked at. */
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

/** What the directory at a real path holds. Throws as `openAtRealPath` does. */
export function listAtRealPath(real: string): Dirent[] {
  const held = holdDirectory(real);
  try {
    return listHeld(held, real);
  } finally {
    held.close();
  }
}

/** What a directory holds that was held by its real path. */
export function listHeld(held: HeldDirectory, real: string): Dirent[] {
  const entries = readdirSync(held.path, { withFileTypes: true });
  if (descriptors === undefined && realpathSync.native(real) !== real) throw replaced(real);
  return entries;
}

/** Opens a file in it for reading: nothing but this name is looked up, so that it need not be asked where it lies. */
export function openInHeld(held: HeldDirectory, name: string): number {
  const file = `${held.path}/${name}`;
  return descriptors === undefined ? openAtRealPath(path.normalize(file)) : openSync(file, plainFlags);
}

/** What the kernel puts after the name of what is there no more. */
const removed = " (deleted)";

function tellsNames(place: string): boolean {
  try {
    const descriptor = openSync("/", plainFlags);
    try {
      return readlinkSync(`${place}/${descriptor}`) === "/";
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return false; // No /proc.
  }
}

function replaced(real: string): SkillsError {
  return new SkillsError("UNREADABLE", `${real} cannot be read: a link was put in its place.`, {
    facts: { path: real },
  });
}
