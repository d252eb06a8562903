import type { Dirent } from "node:fs";
import { constants } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Frame } from "../frames/frames.ts";

const longestPath = 1_000;

/**
 * What a program left in a directory, once it is dead: frames of its regular files, then the frame `end` with what else is in
 * `end`. Follows no link, opens nothing that would block; what cannot be taken is told in `skipped`.
 */
export async function* collectOutput(directory: string, end: Readonly<Record<string, unknown>>): AsyncGenerator<Frame> {
  const skipped: { path: string; why: string }[] = [];
  const left = [""];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    for (const entry of await list(join(directory, at))) {
      const path = at === "" ? entry.name : `${at}/${entry.name}`;
      if (path.includes("\ufffd")) skipped.push({ path, why: "its name is not UTF-8" });
      else if (Buffer.byteLength(path) > longestPath)
        skipped.push({ path: `${path.slice(0, 100)}…`, why: "its name is too long" });
      else if (entry.isDirectory()) left.push(path);
      else {
        const taken = entry.isFile() ? await take(directory, path) : "it is not a regular file";
        if (typeof taken === "string") skipped.push({ path, why: taken });
        else yield taken;
      }
    }
  }
  yield frameOf({ type: "end", ...end, skipped }, 0, nothing());
}

async function list(directory: string): Promise<Dirent[]> {
  try {
    return (await readdir(directory, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return []; // A directory that the program has locked: its own loss.
  }
}

async function take(directory: string, path: string): Promise<Frame | string> {
  const full = join(directory, path);
  try {
    const { nlink, size } = await lstat(full);
    if (nlink !== 1) return "it has more than one name";
    return frameOf({ type: "file", path, bytes: size }, size, read(full, size));
  } catch {
    return "it cannot be read";
  }
}

async function* read(path: string, size: number): AsyncGenerator<Uint8Array> {
  if (size === 0) return;
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  // Closes the file by itself.
  yield* file.createReadStream({ end: size - 1 }) as AsyncIterable<Buffer>;
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // Not a byte.
}

function frameOf(header: Frame["header"], size: number, payload: AsyncIterable<Uint8Array>): Frame {
  return { header, headerBytes: 0, isTooDeep: false, size, payload };
}
