import { closeSync, constants, fsyncSync, mkdirSync, openSync, rmdirSync, unlinkSync, writeSync } from "node:fs";
import { type HeldDirectory, holdChild, joinPath, listHeld } from "../../base/paths/at-real-path.ts";
import { groupBy } from "../../base/limited-map.ts";
import { syncDirectoryNow } from "../../base/paths/replace-file.ts";
import type { SkillFile } from "../reader.ts";

const { O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;
const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | O_NOFOLLOW;

/**
 * Writes files to an empty directory, durably. Each directory is held open, so that nothing is written elsewhere if one is replaced by a
 * link. Throws EEXIST where two paths are one on this file system.
 */
export function writeFiles(held: HeldDirectory, real: string, files: readonly SkillFile[]): void {
  const isDeeper = ({ path }: SkillFile): boolean => path.includes("/");
  for (const { path, bytes, executable } of files.filter((file) => !isDeeper(file)))
    writeNewFile(held, path, bytes, executable ? 0o755 : 0o644);
  const below = groupBy(files.filter(isDeeper), ({ path }) => path.slice(0, path.indexOf("/")));
  for (const [name, inner] of below) {
    mkdirSync(`${held.path}/${name}`, { mode: 0o755 });
    const files = inner.map((file) => ({ ...file, path: file.path.slice(name.length + 1) }));
    inChild(held, name, real, (child, path) => writeFiles(child, path, files));
  }
  syncDirectoryNow(held.path);
}

/** Creates a file in a held directory, durably. */
export function writeNewFile(held: HeldDirectory, name: string, bytes: Uint8Array, mode: number): void {
  writeAndClose(openSync(`${held.path}/${name}`, newFile, mode), bytes);
}

/** Writes all of these bytes durably, and closes the file. */
export function writeAndClose(descriptor: number, bytes: Uint8Array): void {
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Removes everything in a held directory; links are removed, never followed. */
export function emptyDirectory(held: HeldDirectory, real: string): void {
  for (const entry of listHeld(held, real)) {
    if (entry.isDirectory()) {
      inChild(held, entry.name, real, emptyDirectory);
      rmdirSync(`${held.path}/${entry.name}`);
    } else unlinkSync(`${held.path}/${entry.name}`);
  }
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
