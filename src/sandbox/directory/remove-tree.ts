import { randomUUID } from "node:crypto";
import type { Dirent } from "node:fs";
import { chmod, readdir, rename, rmdir, unlink } from "node:fs/promises";

const slash = Buffer.from("/");
/** Files that are removed concurrently. */
const portion = 64;

/**
 * Removes a directory that hostile code may have filled: trees deeper than the longest path, directories without permissions, names
 * that are not UTF-8. Does not follow links. Nobody else may still write to it. An absent directory is not an error.
 */
export async function removeTree(directory: string): Promise<void> {
  const root = Buffer.from(directory);
  for (;;) {
    const entries = await readWritable(root);
    if (entries === undefined) return;
    if (entries.length === 0) break;
    await unlinkAll(root, entries);
    for (const entry of entries.filter((one) => one.isDirectory())) {
      const path = joined(root, entry.name);
      const below = (await readWritable(path)) ?? [];
      await unlinkAll(path, below);
      // Subdirectories are moved up, so that no path gets longer than this one and two names.
      for (const { name } of below.filter((one) => one.isDirectory())) {
        await moveDirectory(joined(path, name), joined(root, Buffer.from(randomUUID())));
      }
      await rmdir(path);
    }
  }
  await rmdir(root);
}

/**
 * Moving a directory changes its `..` entry, which needs write permission on it, except for root. So root never changes the mode
 * of a path that may have been replaced by a link.
 */
async function moveDirectory(from: Buffer, to: Buffer): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
    await chmod(from, 0o700);
    await rename(from, to);
  }
}

type Entry = Dirent<Buffer>;

async function unlinkAll(directory: Buffer, entries: readonly Entry[]): Promise<void> {
  const files = entries.filter((entry) => !entry.isDirectory());
  for (let start = 0; start < files.length; start += portion) {
    await Promise.all(files.slice(start, start + portion).map(({ name }) => unlink(joined(directory, name))));
  }
}

async function readWritable(directory: Buffer): Promise<Entry[] | undefined> {
  try {
    await chmod(directory, 0o700);
    return await readdir(directory, { encoding: "buffer", withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function joined(directory: Buffer, name: Buffer): Buffer {
  return Buffer.concat([directory, slash, name]);
}
