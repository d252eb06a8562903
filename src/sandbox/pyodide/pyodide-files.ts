import { once } from "node:events";
import type { Writable } from "node:stream";
import { isBlobId, isSegment, unfit } from "../directory/private-directory.ts";
import { sendFrame } from "../frames/frames.ts";
import type { SandboxRun } from "../sandbox.ts";

/** A file of a run, by its path in the sandbox. */
export interface LaidFile {
  readonly path: string;
  /** A second path. */
  readonly alias?: string;
  readonly size: number;
  readonly read: () => AsyncIterable<Uint8Array>;
}

const mostPathBytes = 4_096;

/** The files of all skills, and the blobs. Throws for an invalid name or a duplicate path. */
export function filesOf({ skills, blobs }: Pick<SandboxRun, "skills" | "blobs">): LaidFile[] {
  const files: LaidFile[] = [];
  for (const { name, files: own } of skills) {
    if (!isSegment(name)) throw unfit(`Invalid skill name: ${JSON.stringify(name)}.`);
    for (const file of own) {
      if (!file.path.split("/").every(isSegment)) throw unfit(`Invalid file path: ${JSON.stringify(file.path)}.`);
      files.push({ path: `/skills/${name}/${file.path}`, size: file.size, read: () => file.read() });
    }
  }
  for (const blob of blobs) {
    if (!isBlobId(blob.id)) throw unfit(`${JSON.stringify(blob.id)} is not a valid blob id.`);
    const alias = `/blobs/${blob.id.slice("blob:".length)}`;
    files.push({ path: `/blobs/${blob.id}`, alias, size: blob.size, read: () => blob.read() });
  }
  checkPlaces(files);
  return files;
}

/** Sends files. Throws if one cannot be read or has a wrong size: then the run must not start. */
export async function sendFiles(stream: Writable, files: readonly LaidFile[]): Promise<void> {
  for (const { path, alias, size, read } of files) {
    sendFrame(stream, { type: "file", path, ...(alias === undefined ? {} : { alias }), bytes: size });
    let sent = 0;
    for await (const piece of read()) {
      sent += piece.length;
      if (sent > size) throw unfit(`${path} is larger than declared.`);
      if (!stream.writable) throw unfit("The sandbox exited before it received all files.");
      if (!stream.write(piece)) await drained(stream);
    }
    if (sent !== size) throw unfit(`${path} is smaller than declared.`);
  }
}

function checkPlaces(files: readonly LaidFile[]): void {
  const taken = new Set<string>();
  const directories = new Set<string>();
  for (const { path } of files) {
    if (Buffer.byteLength(path) > mostPathBytes) throw unfit(`A file path is too long: ${path.slice(0, 100)}…`);
    if (taken.has(path)) throw unfit(`Two files have the path ${JSON.stringify(path)}.`);
    taken.add(path);
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) directories.add(path.slice(0, at));
  }
  for (const path of taken)
    if (directories.has(path)) throw unfit(`${JSON.stringify(path)} is a file and a directory.`);
}

/** Resolves when more can be written or the stream is closed. */
async function drained(stream: Writable): Promise<void> {
  const settled = new AbortController();
  const wait = (event: string): Promise<unknown> =>
    once(stream, event, { signal: settled.signal }).catch(() => undefined);
  await Promise.race([wait("drain"), wait("close")]);
  settled.abort();
}
