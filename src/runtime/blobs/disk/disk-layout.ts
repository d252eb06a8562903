import { constants, fstatSync, lstatSync, mkdirSync, openSync, readFileSync, readdirSync, realpathSync } from "node:fs";
import path from "node:path";
import { ifThere, systemCode } from "../../../base/failures/system-error.ts";
import { withDescriptor } from "../../../base/paths/at-real-path.ts";
import { makeDirectories, ownershipFault, syncDirectory, syncDirectoryNow } from "../../../base/paths/directories.ts";
import { SkillsError, isSkillsError } from "../../../base/errors.ts";

export const fileMode = 0o600;
const directoryMode = 0o700;
/** Windows has neither flag. Without O_NONBLOCK, opening a FIFO blocks until there is a writer. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>;
export const readFlags = constants.O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
export const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | O_NOFOLLOW;

/**
 * The layout of a store directory. `key` is the hexadecimal part of an id.
 *
 *     v1/objects/ab/<62 hex>         content, stored once, named by its sha256
 *     v1/objects/ab/<62 hex>.<key>   an empty file: the record refers to this content
 *     v1/records/cd/<key>            one blob: its id, owner, kind, size, sha256, creation time
 *     v1/staging/<token>.<hex>       a file that process <token> is writing
 *     v1/leases/<token>.<key>.<n>    an empty file: process <token> holds this blob
 *     v1/processes/<token>           the identity of <token>; its modification time is the heartbeat
 *     v1/lock/<n>, v1/lock/<n>.free  the tickets of the store lock: taken, and given back
 *     v1/usage                       bytes and number of all blobs; missing while blobs are being changed
 */
export type DiskLayout = Readonly<Record<(typeof rooms)[number] | "usage", string>>;

const rooms = ["staging", "leases", "processes", "lock", "objects", "records"] as const;

/** Creates missing directories. Throws if other users can write to them, or if a symlink or a file is in the way. */
export function makeDiskLayout(directory: string): DiskLayout {
  makeDirectories(directory, directoryMode);
  const root = path.join(realpathSync.native(directory), "v1");
  checkPrivate(path.dirname(root));
  const layout = layoutIn(root);
  for (const each of [root, ...rooms.map((room) => layout[room])]) makeDirectory(each);
  // Without this, a power failure could remove the whole store, including blobs reported as stored.
  [root, path.dirname(root), path.dirname(path.dirname(root))].forEach(syncDirectoryNow);
  return layout;
}

/** Finds an existing store without changing anything; undefined if there is none. Throws if other users can write to it. */
export function findDiskLayout(directory: string): DiskLayout | undefined {
  return ifThere(() => {
    const root = path.join(realpathSync.native(directory), "v1");
    checkPrivate(path.dirname(root));
    const layout = layoutIn(root);
    return [root, layout.objects, layout.records].every(isOwnDirectory) ? layout : undefined;
  });
}

/** Whether all directories of the store still exist. */
export function isWhole(layout: DiskLayout): boolean {
  return rooms.every((room) => isOwnDirectory(layout[room]));
}

function layoutIn(root: string): DiskLayout {
  return Object.fromEntries([...rooms, "usage"].map((name) => [name, path.join(root, name)])) as DiskLayout;
}

function checkPrivate(directory: string): void {
  if (process.getuid === undefined) return;
  const { uid, mode } = lstatSync(directory);
  if (uid !== process.getuid()) throw new DirectoryFault("their directory belongs to another user");
  if ((mode & 0o022) !== 0) {
    throw new DirectoryFault("their directory is writable by other users; run chmod go-w on it");
  }
  if (ownershipFault(directory) !== undefined) {
    throw new DirectoryFault(
      "the parent of their directory can be changed by another user; fix it with chown or chmod go-w",
    );
  }
}

/** Creates a directory if it is missing. Throws if anything else has its path, including a symlink. */
export function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { mode: directoryMode });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
    if (isOwnDirectory(directory)) return;
    throw new DirectoryFault(`${path.basename(directory)} in their directory is not a directory`);
  }
}

/** The directory of a key or digest, named by its first two digits. */
export function shardOf(room: string, hex: string): string {
  return path.join(room, hex.slice(0, 2));
}

/** Lists the names in each shard of a directory such as `objects`; skips symlinks. */
export function* everyShard(room: string): Generator<{ readonly shard: string; readonly names: readonly string[] }> {
  for (const shard of readdirSync(room)) {
    const directory = path.join(room, shard);
    if (/^[0-9a-f]{2}$/.test(shard) && isOwnDirectory(directory)) yield { shard, names: readdirSync(directory) };
  }
}

/** The text and the time of the last write of a file of the store. Undefined if the file is missing, or is a symlink or directory. */
export function readIfFile(file: string): { readonly text: string; readonly modifiedAt: number } | undefined {
  try {
    return withDescriptor(openSync(file, readFlags), (descriptor) => {
      return { text: readFileSync(descriptor, "utf8"), modifiedAt: fstatSync(descriptor).mtimeMs };
    });
  } catch (error) {
    if (["ENOENT", "ELOOP", "EISDIR"].includes(systemCode(error))) return undefined;
    throw error;
  }
}

/** Whether the path is a directory and not a symlink to one. */
export function isOwnDirectory(directory: string): boolean {
  return lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

export function objectPath(layout: DiskLayout, sha256: string): string {
  return path.join(shardOf(layout.objects, sha256), sha256.slice(2));
}

export function recordPath(layout: DiskLayout, key: string): string {
  return path.join(shardOf(layout.records, key), key);
}

export function referencePath(layout: DiskLayout, sha256: string, key: string): string {
  return `${objectPath(layout, sha256)}.${key}`;
}

/** Makes renames and removals durable, because the caller reports them as done. */
export async function syncNames(layout: DiskLayout, key: string, sha256: string): Promise<void> {
  const shards = [shardOf(layout.objects, sha256), shardOf(layout.records, key)];
  await Promise.all([...shards, layout.objects, layout.records].map(syncDirectory));
}

/** Whether an error means that the disk is full. */
export function isFull(error: unknown): boolean {
  return ["ENOSPC", "EDQUOT"].includes(systemCode(error));
}

/** Why a directory is rejected as a store although the system allows access: the end of a sentence, without a path. */
export class DirectoryFault extends Error {}

/** Wraps an error of a source stream, to distinguish it from errors of the disk. */
export class SourceFailure extends Error {}

/** The failed operation. */
export type Doing = "stored" | "read" | "removed";

const free = "Free disk space, for example with acp-skills blobs sweep or acp-skills blobs rm ID.";
const mend = "Fix the directory (acp-skills doctor shows it); no restart is needed.";

/** The reasons for the system error codes of an unusable directory. Any other code is an internal error. */
const reasons: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota of this user is exceeded",
  EROFS: "the file system is read-only",
  EACCES: "permission is denied in their directory",
  EPERM: "the operation is not permitted in their directory",
  ENOENT: "their directory does not exist",
  ENOTDIR: "a file is in the place of their directory",
  EEXIST: "a file is in the place of their directory",
  ESTALE: "the disk that contains their directory is gone",
  ENODEV: "the disk that contains their directory is gone",
  EIO: "the disk reports an I/O error",
};

/** The error for an unusable directory. Its message contains no path of this machine, because callers of tools read it. */
function unusableDirectory(doing: Doing, reason: string, cause: unknown): SkillsError {
  const code = doing === "read" ? "RUNTIME_BUSY" : "QUOTA_EXCEEDED";
  const hint = isFull(cause) ? free : mend;
  const facts = { limit: "disk", hint, reason } as const;
  return new SkillsError(code, `Blobs cannot be ${doing}: ${reason}.`, { cause, facts });
}

/** Runs disk operations. Throws their errors as converted by `diskFailure`. */
export async function onDisk<T>(doing: Doing, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw diskFailure(doing, error);
  }
}

/** Returns `SkillsError` and errors of the source unchanged; reports an unusable directory; maps all others to INTERNAL. */
export function diskFailure(doing: Doing, error: unknown): unknown {
  if (error instanceof SourceFailure) return error.cause;
  if (error instanceof DirectoryFault) return unusableDirectory(doing, error.message, error);
  if (isSkillsError(error)) return error;
  const code = systemCode(error) || "unknown";
  if (code === "EMFILE" || code === "ENFILE") {
    const message = `Blobs cannot be ${doing}: too many files are open.`;
    return new SkillsError("RUNTIME_BUSY", message, { cause: error, facts: { hint: "Try again later." } });
  }
  const reason = reasons[code];
  if (reason !== undefined) return unusableDirectory(doing, reason, error);
  return new SkillsError("INTERNAL", `The blob store failed (${code}).`, { cause: error, facts: { system: code } });
}
