import { randomUUID } from "node:crypto";
import { chmodSync, lstatSync, readdirSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { setImmediate } from "node:timers/promises";

const slash = Buffer.from("/");
/** As long as this many entries are removed at once before others get their turn. */
const portion = 256;

/**
 * Removes a directory whatever an enemy has built in it: trees deeper than a path may be long, directories without rights,
 * names that are not text. Follows no link. Nobody may write there any more. What is absent is removed.
 */
export async function removeTree(directory: string): Promise<void> {
  const root = Buffer.from(directory);
  let removed = 0;
  for (;;) {
    const entries = readWritable(root);
    if (entries === undefined) return;
    if (entries.length === 0) break;
    for (const entry of entries) {
      if (++removed % portion === 0) await setImmediate();
      const path = joined(root, entry.name);
      if (!entry.isDirectory) {
        unlinkSync(path);
        continue;
      }
      // What lies in it moves up, so that no path is ever longer than this one and two names.
      for (const below of readWritable(path) ?? []) {
        const from = joined(path, below.name);
        if (!below.isDirectory) unlinkSync(from);
        else {
          // A directory moves only where its own entry for `..` may change.
          chmodSync(from, 0o700);
          renameSync(from, joined(root, Buffer.from(randomUUID())));
        }
      }
      rmdirSync(path);
    }
  }
  rmdirSync(root);
}

interface Entry {
  readonly name: Buffer;
  readonly isDirectory: boolean;
}

function readWritable(directory: Buffer): Entry[] | undefined {
  try {
    if ((lstatSync(directory).mode & 0o700) !== 0o700) chmodSync(directory, 0o700);
    return readdirSync(directory, "buffer").map((name) => ({
      name,
      isDirectory: lstatSync(joined(directory, name)).isDirectory(),
    }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function joined(directory: Buffer, name: Buffer): Buffer {
  return Buffer.concat([directory, slash, name]);
}
