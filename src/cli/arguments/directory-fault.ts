import { accessSync, constants, statSync } from "node:fs";
import type { Stats } from "node:fs";
import path from "node:path";
import { ownershipFault } from "../../base/paths/make-directories.ts";

/** Why a directory that an option names by an absolute path cannot be read; empty if it can. */
export function directoryFault(option: string, directory: string): string[] {
  try {
    if (!statSync(directory).isDirectory()) return [`${option} ${directory}: not a directory`];
    accessSync(directory, constants.R_OK | constants.X_OK);
    return [];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [`${option} ${directory}: no such directory`];
    return [`${option} ${directory}: cannot be read (${code ?? String(error)})`];
  }
}

/** Why nothing can be stored in the data directory, or undefined. Changes nothing: a missing directory is created when needed. */
export function storageFault(directory: string): string | undefined {
  for (const place of [directory, ...["blobs", "ledger", "packages"].map((room) => path.join(directory, room))]) {
    const stats = statsOf(place);
    const fault =
      stats === undefined ? accessFault(nearestExisting(place)) : (accessFault(place) ?? ownershipFault(place));
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function accessFault(place: string): string | undefined {
  if (statsOf(place)?.isDirectory() !== true) return `${place} is not a directory; remove it, or set ACP_SKILLS_HOME`;
  try {
    accessSync(place, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return `${place} is not writable (${code ?? String(error)}); make it writable, or set ACP_SKILLS_HOME`;
  }
}

function nearestExisting(place: string): string {
  const above = path.dirname(place);
  return above === place || statsOf(above) !== undefined ? above : nearestExisting(above);
}

/** Follows links; undefined if nothing exists, or access is denied. */
function statsOf(place: string): Stats | undefined {
  try {
    return statSync(place);
  } catch {
    return undefined;
  }
}
