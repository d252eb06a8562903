import { randomUUID } from "node:crypto";
import type { Dirent } from "node:fs";
import { chmod, readdir, rename, rmdir, unlink } from "node:fs/promises";

const slash = Buffer.from("/");
/** As many files are removed at one time. */
const portion = 64;

/**
 * Removes a directory whatever an enemy has built in it: trees deeper than a path may be long, directories without rights,
 * names that are not text. Follows no link. Nobody may write there any more. What is absent is removed. A disk that takes its
 * time holds nobody else up.
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
      // What lies in it moves up, so that no path is ever longer than this one and two names.
      for (const { name } of below.filter((one) => one.isDirectory())) {
        await moveDirectory(joined(path, name), joined(root, Buffer.from(randomUUID())));
      }
      await rmdir(path);
    }
  }
  await rmdir(root);
}

/**
 * A directory moves only where its own entry for `..` may change, which root never is refused: so root gives rights to nothing
 * but what has moved, and follows no link that was put in the way meanwhile.
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
