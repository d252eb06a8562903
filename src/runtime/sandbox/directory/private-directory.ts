import { randomInt, randomUUID } from "node:crypto";
import {
  type Dirent,
  chmodSync,
  chownSync,
  closeSync,
  fchmodSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeSync,
} from "node:fs";
import { chmod, readdir, rename, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { attempt, systemCode } from "../../../base/failures/system-error.ts";
import { SkillsError } from "../../../base/errors.ts";
import { beginsAsScript } from "../../../base/text/content.ts";
import type { MountedBlob, MountedSkill, SandboxRun } from "../../sandbox.ts";

/** Paths inside the sandbox. */
export interface Roots {
  readonly skills: string;
  readonly workspace: string;
  readonly blobs: string;
  readonly output: string;
  readonly temporary: string;
  readonly project: string | null;
  readonly packages: string | null;
}

/** The directory of one sandbox, which only its user can enter. */
export interface PrivateDirectory {
  readonly path: string;
  readonly skills: string;
  readonly blobs: string;
  remove(): Promise<void>;
}

/**
 * Creates a private directory. Only its `writable` directories belong to `user`. acp-skills writes to the rest as root: in directories of
 * `user` it would follow symbolic links that another process of that user created.
 */
export function makePrivateDirectory(
  path: string,
  user: number | undefined,
  writable: readonly string[],
): PrivateDirectory {
  const directory = { path, skills: join(path, "skills"), blobs: join(path, "blobs") };
  mkdirSync(path, { mode: 0o700 });
  for (const one of [directory.skills, directory.blobs]) {
    mkdirSync(one);
    chmodSync(one, 0o755); // Independent of the umask.
  }
  for (const name of writable) mkdirSync(join(path, name), { mode: 0o700 });
  if (user !== undefined) {
    chownSync(path, -1, user);
    chmodSync(path, 0o710);
    for (const name of writable) chownSync(join(path, name), user, user);
  }
  return { ...directory, remove: () => removeTree(path) };
}

/** The directories of a run that are in its private directory if there are no mount namespaces. */
export const ownRootNames = ["workspace", "output", "temporary"] as const;

/** Paths of a run that has only its private directory. */
export function ownRoots(
  { path, skills, blobs }: PrivateDirectory,
  { project, packages }: { readonly project?: SandboxRun["project"]; readonly packages?: string | undefined },
): Roots {
  const [workspace, output, temporary] = ownRootNames.map((name) => join(path, name)) as [string, string, string];
  return {
    skills,
    blobs,
    workspace,
    output,
    temporary,
    project: project?.directory ?? null,
    packages: packages ?? null,
  };
}

/** A file of a run, by its path in the sandbox, without the first slash. */
export interface RunFile {
  readonly path: string;
  /** A second path. */
  readonly alias?: string;
  readonly size: number;
  readonly read: () => AsyncIterable<Uint8Array>;
}

/** The files of skills by the skill's name, and blobs by id, with and without `blob:`. Throws for a name that leaves its directory. */
export function filesOfRun({ skills, blobs }: Pick<SandboxRun, "skills" | "blobs">): readonly RunFile[] {
  const ofSkills = skills.flatMap(({ name, files }) => {
    if (!isSegment(name)) throw unfit(`Invalid skill name: ${JSON.stringify(name)}.`);
    return files.map((file) => {
      if (!file.path.split("/").every(isSegment)) throw unfit(`Invalid file path: ${JSON.stringify(file.path)}.`);
      return { path: `skills/${name}/${file.path}`, size: file.size, read: () => file.read() };
    });
  });
  const ofBlobs = blobs.map((blob) => {
    const { id, size } = blob;
    if (!/^blob:[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id))
      throw unfit(`${JSON.stringify(id)} is not a valid blob id.`);
    return { path: `blobs/${id}`, alias: `blobs/${id.slice("blob:".length)}`, size, read: () => blob.read() };
  });
  return [...ofSkills, ...ofBlobs];
}

/** Writes the files of a run. Throws like `filesOfRun`, and for a wrong size. */
export async function layFiles(
  directory: PrivateDirectory,
  skills: readonly MountedSkill[],
  blobs: readonly MountedBlob[],
): Promise<void> {
  const files = filesOfRun({ skills, blobs });
  const made = new Set<string>();
  const make = (inner: string): void => {
    if (inner === directory.skills || inner === directory.blobs || made.has(inner)) return;
    make(dirname(inner));
    mkdirSync(inner, { mode: 0o700 });
    made.add(inner);
  };
  for (const { name } of skills) make(join(directory.skills, name));
  for (const { path, alias, size, read } of files) {
    const laid = join(directory.path, path);
    make(dirname(laid));
    await layFile(path, laid, size, read());
    if (alias !== undefined) symlinkSync(basename(path), join(directory.path, alias));
  }
  for (const laid of made) chmodSync(laid, 0o555);
}

/** Writes a file synchronously: the thread pool would take longer than the disk. */
async function layFile(label: string, path: string, size: number, content: AsyncIterable<Uint8Array>): Promise<void> {
  const file = openSync(path, "wx");
  let written = 0;
  let isExecutable = false;
  try {
    for await (const piece of content) {
      if (written === 0) isExecutable = beginsAsScript(piece);
      if (written + piece.length > size) throw unfit(`${label} is larger than declared.`);
      for (let at = 0; at < piece.length;) at += writeSync(file, piece, at);
      written += piece.length;
    }
    if (written !== size) throw unfit(`${label} is smaller than declared.`);
    fchmodSync(file, isExecutable ? 0o555 : 0o444);
  } finally {
    closeSync(file);
  }
}

/** Whether a name is one segment of a path. */
function isSegment(name: string): boolean {
  return name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name) && Buffer.byteLength(name) <= 255;
}

/** The error for files that do not fit into a sandbox. */
export function unfit(message: string): SkillsError {
  return new SkillsError("SANDBOX_UNAVAILABLE", message);
}

const firstFree = 0x7000_0000;
const countFree = 0x0fff_0000;

export interface SandboxUser {
  /** `undefined`: the user of this process, which is not root. */
  readonly id: number | undefined;
  /** Whether only root can use the project: it must be mounted as if it were this user's. */
  readonly isLent: boolean;
}

export interface SandboxRefusal {
  readonly refusal: string;
}

/**
 * Returns an unused id, a different one for each sandbox. No file belongs to it, and the kernel's limits per user count only that sandbox.
 */
function takeFreeUser(isLent = false): SandboxUser | SandboxRefusal {
  const maxUser = (knownMaxUser ??= findMaxUser());
  if (maxUser < 2) return { refusal: "Sandboxes do not run as root, and this user namespace has no other user id." };
  if (maxUser >= firstFree + countFree) return { id: randomInt(firstFree, firstFree + countFree), isLent };
  // A container with few ids: the last ones.
  return { id: randomInt(Math.max(1, maxUser - 4_000), maxUser), isLent };
}

/**
 * Chooses the user of a sandbox: the user of this process, unless that is root. For root it is an unused id, or the owner of a project that
 * other users may not use. Never root: the kernel lets uid 0 change many settings even without capabilities.
 */
export function chooseUser(project: SandboxRun["project"]): SandboxUser | SandboxRefusal {
  if (process.getuid?.() !== 0) return { id: undefined, isLent: false };
  if (project === undefined) return takeFreeUser();
  const found = statSync(project.directory, { throwIfNoEntry: false });
  if (found === undefined) return { refusal: `The project directory ${project.directory} does not exist.` };
  if (!project.writable && everyoneMayEnter(project.directory)) return takeFreeUser();
  return found.uid === 0 ? takeFreeUser(true) : { id: found.uid, isLent: false };
}

/** Whether every user can enter and list a directory, or reach and execute a program. */
export function everyoneMayEnter(path: string): boolean {
  return (statSync(path).mode & 0o005) === 0o005 && everyoneMayPass(dirname(path));
}

/** Whether every user can pass a directory and all above it. Absent directories are ignored. */
export function everyoneMayPass(directory: string): boolean {
  const found = statSync(directory, { throwIfNoEntry: false });
  if (found !== undefined && (found.mode & 0o001) === 0) return false;
  return directory === dirname(directory) || everyoneMayPass(dirname(directory));
}

/** Cached, because the namespace of a process never gets other ids. */
let knownMaxUser: number | undefined;

function findMaxUser(): number {
  // Not known: assume 16-bit ids.
  const ranges = attempt(() => readFileSync("/proc/self/uid_map", "utf8"), "0 0 65536")
    .trim()
    .split("\n");
  const limits = ranges.map((range) => range.trim().split(/\s+/).map(Number));
  return Math.max(...limits.map(([first = 0, , count = 0]) => first + count - 1));
}

const slash = Buffer.from("/");
/** Maximum number of files that are removed concurrently. */
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
        await moveDirectory(joined(path, name), joined(root, randomUUID()));
      }
      await rmdir(path);
    }
  }
  await rmdir(root);
}

/**
 * Moves a directory. This changes its `..` entry, which needs write permission on it, except for root. So root never changes the mode of a
 * path that may have been replaced by a link.
 */
async function moveDirectory(from: Buffer, to: Buffer): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (systemCode(error) !== "EACCES") throw error;
    await chmod(from, 0o700);
    await rename(from, to);
  }
}

async function unlinkAll(directory: Buffer, entries: readonly Dirent[]): Promise<void> {
  const files = entries.filter((entry) => !entry.isDirectory());
  for (let start = 0; start < files.length; start += portion) {
    await Promise.all(files.slice(start, start + portion).map(({ name }) => unlink(joined(directory, name))));
  }
}

/** Makes a directory writable and lists it. Names have one character per byte: some are not UTF-8, and Bun lists buffers without types. */
async function readWritable(directory: Buffer): Promise<Dirent[] | undefined> {
  try {
    await chmod(directory, 0o700);
    return await readdir(directory, { encoding: "latin1", withFileTypes: true });
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function joined(directory: Buffer, name: string): Buffer {
  return Buffer.concat([directory, slash, Buffer.from(name, "latin1")]);
}
