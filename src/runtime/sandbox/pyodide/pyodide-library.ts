import { createHash, randomUUID } from "node:crypto";
import { lstat, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeOwnDirectories } from "../../../base/paths/directories.ts";
import type { Frame } from "../frames.ts";

/** A compiled library is reused for the same values. */
export interface LibraryKey {
  readonly deno: string;
  readonly pyodide: string;
  /** The directory of our files, including the one that compiles it. */
  readonly inside: string;
}

const digestBytes = 32;
const mostBytes = 256 * 1024 * 1024;

/**
 * The path of the compiled standard library in `directory`; created by `make` if it is absent or damaged. It ends with a digest of its
 * content and key. Created by a clean child, never by a run; a file that another user could have written is not used.
 */
export async function ensureLibrary(directory: string, key: LibraryKey, make: () => Promise<Buffer>): Promise<string> {
  const origin = await describeOrigin(key);
  const file = join(directory, `pyodide-${digest(origin).toString("hex").slice(0, 16)}.zip`);
  if (await isWhole(file, origin)) return file;
  makeOwnDirectories(directory, 0o700);
  const bytes = await make();
  const unfinished = `${file}.${randomUUID()}`;
  try {
    await writeFile(unfinished, Buffer.concat([bytes, digest(origin, bytes)]), { mode: 0o600, flag: "wx" });
    await rename(unfinished, file);
  } finally {
    await rm(unfinished, { force: true });
  }
  return file;
}

/** Reads the frame with which a child sends the library. */
export async function readLibrary({ header, size, payload }: Frame): Promise<Buffer> {
  if (header.type !== "library" || size === 0 || size > mostBytes)
    throw new Error("Deno did not send a compiled library.");
  const pieces: Uint8Array[] = [];
  for await (const piece of payload) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function describeOrigin({ deno, pyodide, inside }: LibraryKey): Promise<Buffer> {
  const compiler = digest(await readFile(join(inside, "deno/pyodide_library.py"))).toString("hex");
  return Buffer.from(JSON.stringify([deno, pyodide, compiler]));
}

async function isWhole(file: string, origin: Buffer): Promise<boolean> {
  try {
    const found = await lstat(file);
    if (!found.isFile() || found.size > mostBytes || found.size <= digestBytes) return false;
    const ours = process.getuid === undefined || (found.uid === process.getuid() && (found.mode & 0o022) === 0);
    if (!ours) return false;
    const content = await readFile(file);
    const bytes = content.subarray(0, -digestBytes);
    return digest(origin, bytes).equals(content.subarray(-digestBytes));
  } catch {
    return false; // Absent.
  }
}

function digest(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
}
