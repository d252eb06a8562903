import { closeSync, constants, fsyncSync, lstatSync, mkdirSync, openSync, readdirSync, realpathSync } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { makeDirectories, ownershipFault } from "../../base/paths/make-directories.ts";
import { PlaceFault } from "./disk-fault.ts";

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
 *     v1/leases/<key>.<token>.<n>    an empty file: process <token> holds this blob
 *     v1/processes/<token>           the identity of <token>; its modification time is the heartbeat
 *     v1/lock/<n>, v1/lock/<n>.free  the tickets of the store lock
 *     v1/usage                       bytes and number of all blobs; missing while they are being changed
 */
export interface DiskLayout {
  readonly staging: string;
  readonly leases: string;
  readonly processes: string;
  readonly lock: string;
  readonly usage: string;
  readonly objects: string;
  readonly records: string;
}

const rooms = ["staging", "leases", "processes", "lock", "objects", "records"] as const;

/** Creates missing directories. Throws if other users can write to them, or if a symlink or a file is in the way. */
export function makeDiskLayout(directory: string): DiskLayout {
  makeDirectories(directory, directoryMode);
  const root = path.join(realpathSync.native(directory), "v1");
  checkPrivate(path.dirname(root));
  const layout = layoutIn(root);
  for (const each of [root, ...rooms.map((room) => layout[room])]) makeDirectory(each);
  // Otherwise a power failure could remove the whole store, including blobs reported as stored.
  [root, path.dirname(root), path.dirname(path.dirname(root))].forEach(syncDirectoryNow);
  return layout;
}

/** Finds an existing store without changing anything; undefined if there is none. Throws if other users can write to it. */
export function findDiskLayout(directory: string): DiskLayout | undefined {
  try {
    const root = path.join(realpathSync.native(directory), "v1");
    checkPrivate(path.dirname(root));
    const layout = layoutIn(root);
    return [root, layout.objects, layout.records].every(isOwnDirectory) ? layout : undefined;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Whether all directories of the store still exist. */
export function isWhole(layout: DiskLayout): boolean {
  return rooms.every((room) => isOwnDirectory(layout[room]));
}

function layoutIn(root: string): DiskLayout {
  const below = (name: string): string => path.join(root, name);
  return {
    staging: below("staging"),
    leases: below("leases"),
    processes: below("processes"),
    lock: below("lock"),
    usage: below("usage"),
    objects: below("objects"),
    records: below("records"),
  };
}

function checkPrivate(directory: string): void {
  if (process.getuid === undefined) return;
  const { uid, mode } = lstatSync(directory);
  if (uid !== process.getuid()) throw new PlaceFault("their directory belongs to another user");
  if ((mode & 0o022) !== 0) {
    throw new PlaceFault("their directory is writable by other users; run chmod go-w on it");
  }
  if (ownershipFault(directory) !== undefined) {
    throw new PlaceFault(
      "the parent of their directory can be changed by another user; fix it with chown or chmod go-w",
    );
  }
}

/** Creates a directory; false if it existed. Throws if anything else is in its place, including a symlink. */
export function makeDirectory(directory: string): boolean {
  try {
    mkdirSync(directory, { mode: directoryMode });
    return true;
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    if (!lstatSync(directory).isDirectory())
      throw new PlaceFault(`${path.basename(directory)} in their directory is not a directory`);
    return false;
  }
}

/** The directory of a key or digest, named by its first two digits. */
export function shardOf(room: string, hex: string): string {
  return path.join(room, hex.slice(0, 2));
}

/** Lists the names in each such directory of a room; skips symlinks. */
export function* everyShard(room: string): Generator<{ readonly shard: string; readonly names: readonly string[] }> {
  for (const shard of readdirSync(room)) {
    const directory = path.join(room, shard);
    if (/^[0-9a-f]{2}$/.test(shard) && isOwnDirectory(directory)) yield { shard, names: readdirSync(directory) };
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

/** Makes renames and removals durable, as the caller reports them as done. */
export async function syncNames(layout: DiskLayout, key: string, sha256: string): Promise<void> {
  const shards = [shardOf(layout.objects, sha256), shardOf(layout.records, key)];
  await Promise.all([...shards, layout.objects, layout.records].map(syncDirectory));
}

/** Makes the entries of a directory durable. Windows neither supports nor needs this. */
async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(directory, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function syncDirectoryNow(directory: string): void {
  if (process.platform === "win32") return;
  const descriptor = openSync(directory, constants.O_RDONLY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}
