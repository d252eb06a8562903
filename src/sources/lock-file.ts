import { isUtf8 } from "node:buffer";
import { fstatSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import {
  type HeldDirectory,
  holdDirectory,
  openInHeld,
  readInto,
  within,
  withDescriptor,
} from "../base/paths/at-real-path.ts";
import { makeDirectories, makeOwnDirectories, syncDirectoryNow } from "../base/paths/directories.ts";
import { ifThere, systemCode } from "../base/failures/system-error.ts";
import { type Turn, TurnLock } from "../base/processes/turn-lock.ts";
import { SkillsError } from "../base/errors.ts";
import { recordNames } from "./lock/change-record.ts";
import { type Lock, emptyLock, parseLock, toLockText } from "./lock.ts";
import type { InstallScope } from "./install-scope.ts";

export { findLocked, sourceOfEntry, namedSources } from "./lock/locked-source.ts";
export { toLockText } from "./lock.ts";
export { type InstalledFiles, readInstalled } from "./lock/read-installed.ts";
export type { LockDifference } from "./lock.ts";
export { unfinishedWords } from "./lock/change-record.ts";

const maxLockBytes = 16 * 1024 * 1024;
/** The maximum number of attempts; an attempt fails if another program changed the lock meanwhile. */
const maxAttempts = 5;

/** Reads the lock of a scope; an empty one if there is none. Throws SOURCE_INVALID for a damaged lock, UNREADABLE if it cannot be read. */
export function readLock({ form, lockFile }: InstallScope): Lock {
  const file = realLockFile(lockFile, form);
  const text = file === undefined ? undefined : inDirectory(file, (held) => readText(held, file));
  return text === undefined ? emptyLock(form) : parseLock(text, lockFile, form);
}

/**
 * Changes the current lock, while no other process of this user changes one. A crash leaves the old or the new file; a damaged file is
 * never replaced. A change that another program makes meanwhile is preserved. `id`: the id of the record of this change.
 */
export async function changeLock(scope: InstallScope, id: string, change: (lock: Lock) => Lock): Promise<void> {
  const { form, lockFile, records } = scope;
  makeDirectories(path.dirname(lockFile), 0o755);
  const turns = path.join(records, "lock");
  makeOwnDirectories(turns, 0o700);
  const file = realLockFile(lockFile, form) ?? lockFile;
  await new TurnLock(turns).exclusive((turn) => {
    // A stopped process that lost its turn finds no file to rename when it continues.
    for (const other of recordNames(records)) sweepLock(scope, other);
    inDirectory(file, (held) => {
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const before = readText(held, file);
        const after = change(before === undefined ? emptyLock(form) : parseLock(before, lockFile, form));
        if (replace(held, { file, temporary: temporaryOf(file, id), turn }, before, toLockText(after))) return;
      }
      throw new SkillsError("UNREADABLE", `${lockFile} is being changed by another program. Try again.`);
    });
    return Promise.resolve();
  });
}

/** Removes the temporary file with which a killed process was about to replace the lock. `id`: the id of its record. */
export function sweepLock({ form, lockFile }: InstallScope, id: string): void {
  const file = realLockFile(lockFile, form);
  if (file === undefined) return;
  inDirectory(file, (held) => rmSync(`${held.path}/${temporaryOf(file, id)}`, { force: true }));
}

function temporaryOf(file: string, id: string): string {
  return `.${path.basename(file)}.${id}.tmp`;
}

/** Replaces the lock file. Returns false if the file changed meanwhile, or the turn was lost. */
function replace(
  held: HeldDirectory,
  { file, temporary, turn }: { readonly file: string; readonly temporary: string; readonly turn: Turn },
  before: string | undefined,
  after: string,
): boolean {
  if (before === after) return true;
  const name = path.basename(file);
  writeFileSync(`${held.path}/${temporary}`, after, { flag: "wx", mode: 0o644, flush: true });
  try {
    if (readText(held, file) !== before) return false;
    turn.move(`${held.path}/${temporary}`, `${held.path}/${name}`);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false;
    throw error;
  } finally {
    rmSync(`${held.path}/${temporary}`, { force: true });
  }
  syncDirectoryNow(held.path);
  return true;
}

function readText(held: HeldDirectory, file: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = openInHeld(held, path.basename(file));
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT") return undefined;
    const isLink = code === "ELOOP" || code === "";
    const why = isLink ? "it is a symlink; replace it by the file that it leads to" : `${code}; make it readable`;
    throw new SkillsError("UNREADABLE", `${file} cannot be read: ${why}.`, { cause: error, facts: { path: file } });
  }
  return withDescriptor(descriptor, () => {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw new SkillsError("UNREADABLE", `${file} is not a regular file; remove it.`);
    const bytes = Buffer.allocUnsafe(Math.min(stats.size, maxLockBytes) + 1);
    const content = bytes.subarray(0, readInto(descriptor, bytes));
    if (content.length > maxLockBytes)
      throw new SkillsError("FILE_TOO_LARGE", `${file} is larger than ${maxLockBytes / 1024 / 1024} MiB.`);
    if (isUtf8(content)) return content.toString("utf8");
    const message = `${file} is not UTF-8 text. Restore it from version control.`;
    throw new SkillsError("SOURCE_INVALID", message, { facts: { path: file } });
  });
}

/** Returns the real path of a lock; undefined without its directory. The user's own lock may be a link; that of a project may not. */
function realLockFile(lockFile: string, form: Lock["form"]): string | undefined {
  const directory = ifThere(() => realpathSync.native(path.dirname(lockFile)));
  if (directory === undefined) return undefined;
  const file = path.join(directory, path.basename(lockFile));
  return form === "global" ? (ifThere(() => realpathSync.native(file)) ?? file) : file;
}

function inDirectory<Result>(file: string, work: (held: HeldDirectory) => Result): Result {
  return within(holdDirectory(path.dirname(file)), work);
}
