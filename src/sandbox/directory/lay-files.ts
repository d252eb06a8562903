import { chmodSync, chownSync, closeSync, fchmodSync, mkdirSync, openSync, symlinkSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { SkillsError } from "../../errors.ts";
import { removeTree } from "./remove-tree.ts";
import type { MountedBlob, MountedFile, MountedSkill } from "../sandbox.ts";

/** The directory of one sandbox, which only its user can enter. */
export interface PrivateDirectory {
  readonly path: string;
  readonly skills: string;
  readonly blobs: string;
  remove(): Promise<void>;
}

/**
 * Creates it. Only its `writable` directories belong to `user`: we write to the rest as root, and would follow symbolic links that
 * another process of that user put there.
 */
export function makePrivateDirectory(
  path: string,
  user: number | undefined,
  writable: readonly string[],
): PrivateDirectory {
  const directory = { path, skills: join(path, "skills"), blobs: join(path, "blobs") };
  mkdirSync(path, { mode: 0o700 });
  for (const one of [directory.skills, directory.blobs]) makeReadable(one);
  for (const name of writable) mkdirSync(join(path, name), { mode: 0o700 });
  if (user !== undefined) {
    chownSync(path, -1, user);
    chmodSync(path, 0o710);
    for (const name of writable) chownSync(join(path, name), user, user);
  }
  return { ...directory, remove: () => removeTree(path) };
}

/** Without mount namespaces, the writable directories of a run are in its private directory. */
export const ownRootNames = ["workspace", "output", "temporary"] as const;

export function ownRoots({
  path,
  skills,
  blobs,
}: PrivateDirectory): Record<"skills" | "blobs" | (typeof ownRootNames)[number], string> {
  const [workspace, output, temporary] = [join(path, "workspace"), join(path, "output"), join(path, "temporary")];
  return { skills, blobs, workspace, output, temporary };
}

/** Independent of the umask. */
function makeReadable(path: string): void {
  mkdirSync(path);
  chmodSync(path, 0o755);
}

/** Writes skills by name and blobs by id, with and without `blob:`. Throws for a name that leaves the directory, or a wrong size. */
export async function layFiles(
  directory: PrivateDirectory,
  skills: readonly MountedSkill[],
  blobs: readonly MountedBlob[],
): Promise<void> {
  for (const skill of skills) {
    if (!isSegment(skill.name)) throw unfit(`Invalid skill name: ${JSON.stringify(skill.name)}.`);
    await layTree(join(directory.skills, skill.name), skill.files);
  }
  for (const blob of blobs) {
    if (!isBlobId(blob.id)) throw unfit(`${JSON.stringify(blob.id)} is not a valid blob id.`);
    await layFile(blob.id, join(directory.blobs, blob.id), blob.size, blob.read());
    symlinkSync(blob.id, join(directory.blobs, blob.id.slice("blob:".length)));
  }
}

async function layTree(root: string, files: readonly MountedFile[]): Promise<void> {
  const made = new Set<string>();
  const make = (directory: string): void => {
    if (made.has(directory)) return;
    if (directory !== root) make(dirname(directory));
    mkdirSync(directory, { mode: 0o700 });
    made.add(directory);
  };
  make(root);
  for (const file of files) {
    const segments = file.path.split("/");
    if (!segments.every(isSegment)) throw unfit(`Invalid file path: ${JSON.stringify(file.path)}.`);
    const path = join(root, ...segments);
    make(dirname(path));
    await layFile(file.path, path, file.size, file.read());
  }
  for (const directory of made) chmodSync(directory, 0o555);
}

/** Synchronous writes: the thread pool would take longer than the disk. */
async function layFile(label: string, path: string, size: number, content: AsyncIterable<Uint8Array>): Promise<void> {
  const file = openSync(path, "wx");
  let written = 0;
  let isScript = false;
  try {
    for await (const piece of content) {
      if (written === 0) isScript = piece[0] === 0x23 && piece[1] === 0x21;
      if (written + piece.length > size) throw unfit(`${label} is larger than declared.`);
      for (let at = 0; at < piece.length;) at += writeSync(file, piece, at);
      written += piece.length;
    }
    if (written !== size) throw unfit(`${label} is smaller than declared.`);
    fchmodSync(file, isScript ? 0o555 : 0o444);
  } finally {
    closeSync(file);
  }
}

/** Whether a name is one segment of a path. */
export function isSegment(name: string): boolean {
  return name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name) && Buffer.byteLength(name) <= 255;
}

export function isBlobId(id: string): boolean {
  return /^blob:[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id);
}

/** The error for files that do not fit into a sandbox. */
export function unfit(message: string): SkillsError {
  return new SkillsError("SANDBOX_UNAVAILABLE", message);
}
