import { type Stats, accessSync, constants, statSync } from "node:fs";
import path from "node:path";
import { attempt, systemCode } from "../base/failures/system-error.ts";
import { ownershipFault } from "../base/paths/directories.ts";
import { foreignTo } from "../base/processes/turn-lock.ts";

/** Collects what a store lists into an array. */
export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** Why nothing can be stored in the data directory; undefined if it can. Changes nothing: a missing directory is created when needed. */
export function storageFault(directory: string): string | undefined {
  for (const file of [directory, ...["blobs", "ledger", "packages"].map((room) => path.join(directory, room))]) {
    const isThere = statsOf(file) !== undefined;
    const fault = isThere ? (accessFault(file) ?? ownershipFault(file)) : accessFault(nearestExisting(file));
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function accessFault(file: string): string | undefined {
  if (statsOf(file)?.isDirectory() !== true) return `${file} is not a directory; remove it, or set ACP_SKILLS_HOME`;
  try {
    accessSync(file, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const code = systemCode(error);
    return `${file} is not writable (${code || String(error)}); make it writable, or set ACP_SKILLS_HOME`;
  }
}

function nearestExisting(file: string): string {
  const above = path.dirname(file);
  return above === file || statsOf(above) !== undefined ? above : nearestExisting(above);
}

/** The stats of a path, after links; undefined if nothing exists, or access is denied. */
function statsOf(file: string): Stats | undefined {
  return attempt(() => statSync(file), undefined);
}

/** Files in lock directories that acp-skills did not create and ignores. */
export function foreignFiles(directory: string): readonly string[] {
  const locks = ["trust/lock", "blobs/v1/lock", "remote/turns"].map((file) => path.join(directory, file));
  return locks.flatMap((lock) => foreignTo(lock).map((name) => path.join(lock, name)));
}
