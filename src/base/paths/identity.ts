import { type BigIntStats, closeSync, constants, fstatSync, openSync, statSync } from "node:fs";
import { SkillsError } from "../errors.ts";
import { attempt, systemCode } from "../failures/system-error.ts";

/** Identifies a directory independently of its path. Plain data; decimal digits, because inodes may exceed safe integers. */
export interface DirectoryIdentity {
  readonly device: string;
  readonly inode: string;
}

/** The directory at a path, links followed; undefined if it is not a directory. */
export function directoryIdentityOf(path: string): DirectoryIdentity | undefined {
  // Undefined if it is missing or inaccessible.
  const found = attempt(() => statSync(path, { bigint: true }), undefined);
  return found?.isDirectory() === true ? toIdentity(found) : undefined;
}

export function isSameDirectory(a: DirectoryIdentity | undefined, b: DirectoryIdentity | undefined): boolean {
  return a !== undefined && a.device === b?.device && a.inode === b.inode;
}

/** The error for a session whose directory was replaced by another one. */
export function directoryReplaced(directory: string): SkillsError {
  const message = `${directory} is no longer the directory that this session was opened in: it was replaced by another one.`;
  const hint = "If the user did that, open a new session.";
  return new SkillsError("PERMISSION_DENIED", message, { facts: { hint } });
}

export interface PinnedDirectory {
  /** Undefined if there was no directory. */
  readonly identity: DirectoryIdentity | undefined;
  /** May be called more than once. */
  release(): void;
}

/** Returns the identity of a directory and holds it open: some file systems reuse the inode of a removed directory once it is closed. */
export function pinDirectory(path: string): PinnedDirectory {
  const { O_DIRECTORY } = constants as Partial<typeof constants>;
  let descriptor: number | undefined;
  try {
    if (O_DIRECTORY !== undefined) descriptor = openSync(path, constants.O_RDONLY | O_DIRECTORY);
  } catch {
    // Not readable, or no descriptors left: its identity is read without holding it open.
  }
  return {
    identity:
      descriptor === undefined ? directoryIdentityOf(path) : toIdentity(fstatSync(descriptor, { bigint: true })),
    release() {
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

function toIdentity({ dev, ino }: BigIntStats): DirectoryIdentity {
  return { device: String(dev), inode: String(ino) };
}

/** A stamp that changes when the file does; undefined if there is no file. Cheap. Links are followed. */
export function fileStamp(file: string): string | undefined {
  try {
    const found = statSync(file, { bigint: true, throwIfNoEntry: false });
    return found && [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs, found.uid, found.mode].join(":");
  } catch (error) {
    return `unreadable: ${systemCode(error)}`;
  }
}

/** The time of the last change of a file with this stamp, in milliseconds since 1970; Infinity if it cannot be read. */
export function changedAt(stamp: string): number {
  const [, , , modified, changed] = stamp.split(":").map(Number);
  return Math.max(modified ?? Infinity, changed ?? Infinity) / 1_000_000;
}
