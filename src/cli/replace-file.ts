import { randomBytes } from "node:crypto";
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";

/**
 * Puts a text in a file's place in one step: a reader sees the old file or the new one, never half of it. Follows links to
 * the file they lead to and keeps its mode. Throws, with the old file untouched, when the disk says no.
 */
export function replaceFile(file: string, text: string): void {
  const target = realpathSync(file);
  const { mode, uid, gid } = statSync(target);
  const temporary = path.join(path.dirname(target), `.${path.basename(target)}.${randomBytes(6).toString("hex")}.tmp`);
  const descriptor = openSync(temporary, "wx", 0o600);
  try {
    try {
      writeFileSync(descriptor, text);
      keepOwner(descriptor, uid, gid);
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

function keepOwner(descriptor: number, uid: number, gid: number): void {
  try {
    fchownSync(descriptor, uid, gid);
  } catch {
    // Only the superuser may give files away; whoever else repairs a file owns it from then on.
  }
}
