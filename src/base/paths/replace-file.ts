import { randomBytes } from "node:crypto";
import path from "node:path";
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { holdDirectory, within } from "./at-real-path.ts";
import { SkillsError } from "../errors.ts";
import { attempt } from "../failures/system-error.ts";

/**
 * Replaces the file at a real path atomically: a reader sees either the old file or the new one. Preserves its mode. If writing fails,
 * throws and leaves the old file unchanged. Throws UNREADABLE if a symlink has replaced the file or one of its parent directories.
 * `temporary`: the name of the file that is written beside it first.
 */
export function replaceFile(real: string, text: string, temporary = temporaryOf(real)): void {
  within(holdDirectory(path.dirname(real)), (held) => replaceIn(held.path, path.basename(real), text, temporary));
}

/** A new name beside a file. */
export function temporaryOf(real: string): string {
  return `.${path.basename(real)}.${randomBytes(6).toString("hex")}.tmp`;
}

function replaceIn(directory: string, name: string, text: string, temporaryName: string): void {
  const target = path.join(directory, name);
  const temporary = path.join(directory, temporaryName);
  const stats = lstatSync(target);
  if (!stats.isFile())
    throw new SkillsError("UNREADABLE", `${name} was replaced by something that is not a regular file.`);
  const { mode, uid, gid } = stats;
  const descriptor = openSync(temporary, "wx", 0o600);
  try {
    try {
      writeFileSync(descriptor, text);
      // Only the superuser can change the owner of a file; otherwise the repaired file belongs to the current user.
      attempt(() => fchownSync(descriptor, uid, gid), undefined);
      fchmodSync(descriptor, mode & 0o7777);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
