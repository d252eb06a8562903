import type { Dirent } from "node:fs";
import { constants } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Frame } from "../frames/frames.ts";

const longestPath = 1_000;

/**
 * The output files of a dead program as frames, then a frame `end` with the fields of `end`. Follows no links and opens nothing that
 * could block; files that are not kept are listed in `skipped`.
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
    return []; // The program removed its own permission.
  }
}

async function take(directory: string, path: string): Promise<Frame | string> {
  const full = join(directory, path);
  try {
    const { nlink, size } = await lstat(full);
    if (nlink !== 1) return "it has several hard links";
    return frameOf({ type: "file", path, bytes: size }, size, read(full, size));
  } catch {
    return "it cannot be read";
  }
}

async function* read(path: string, size: number): AsyncGenerator<Uint8Array> {
  if (size === 0) return;
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  // Closes the file.
  yield* file.createReadStream({ end: size - 1 }) as AsyncIterable<Buffer>;
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // Empty.
}

function frameOf(header: Frame["header"], size: number, payload: AsyncIterable<Uint8Array>): Frame {
  return { header, headerBytes: 0, isTooDeep: false, size, payload };
}
