import { closeSync, constants, fstatSync, openSync, statSync } from "node:fs";
import type { BigIntStats } from "node:fs";
import { SkillsError } from "../errors.ts";

/** Which directory it is, whatever its path leads to later. Decimal digits: plain data, and longer than a number is exact. */
export interface DirectoryIdentity {
  readonly device: string;
  readonly inode: string;
}

/** What lies at a path now, links followed; undefined where that is no directory. */
export function identityOf(path: string): DirectoryIdentity | undefined {
  try {
    const found = statSync(path, { bigint: true });
    return found.isDirectory() ? toIdentity(found) : undefined;
  } catch {
    return undefined; // Nothing that could be used.
  }
}

export function isSameDirectory(a: DirectoryIdentity | undefined, b: DirectoryIdentity | undefined): boolean {
  return a !== undefined && a.device === b?.device && a.inode === b.inode;
}

/** The directory that a session was opened in was replaced by another one. */
export function directoryReplaced(directory: string): SkillsError {
  const message = `${directory} is no longer the directory that this session was opened in: it was replaced by another one.`;
  return new SkillsError("PERMISSION_DENIED", message, {
    facts: { hint: "If the user did that, open a new session." },
  });
}

export interface PinnedDirectory {
  /** Undefined where there was no directory. */
  readonly identity: DirectoryIdentity | undefined;
  /** May be called more than once. */
  release(): void;
}

/** The same, kept open meanwhile: some file systems give a number to another directory once nobody has this one open. */
export function pinDirectory(path: string): PinnedDirectory {
  const { O_DIRECTORY } = constants as Partial<typeof constants>;
  let descriptor: number | undefined;
  try {
    if (O_DIRECTORY !== undefined) descriptor = openSync(path, constants.O_RDONLY | O_DIRECTORY);
  } catch {
    // One that cannot be listed, or no descriptor is left: then it is only looked at.
  }
  return {
    identity: descriptor === undefined ? identityOf(path) : toIdentity(fstatSync(descriptor, { bigint: true })),
    release() {
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

function toIdentity({ dev, ino }: BigIntStats): DirectoryIdentity {
  return { device: String(dev), inode: String(ino) };
}
