import { lstatSync } from "node:fs";
import path from "node:path";
import { attempt } from "../../base/failures/system-error.ts";
import { measureDirectory, namesIn } from "../../base/paths/directories.ts";
import type { Database } from "../database.ts";
import type { LocalPacks } from "./local-packs.ts";
import { expirePacks } from "./pack-rows.ts";

/** For copies on this machine that are not in use. */
const maxLocalBytes = 4 * 1024 * 1024 * 1024;
/** Longer than a run takes. */
const inUseMs = 60 * 60 * 1_000;
/** Batches a sweep: the next one goes on. */
const maxBatches = 100;

interface PackSweep {
  readonly database: Database;
  readonly local: LocalPacks;
  readonly now: number;
  readonly signal: AbortSignal;
}

/**
 * Removes packs that nobody has used for 30 days from the database, and from this machine those that were used least recently, until those
 * that are not in use have at most `maxLocalBytes` together.
 */
export async function sweepPacks({ database, local, now, signal }: PackSweep): Promise<void> {
  const copies: { readonly place: string; readonly usedAt: number; readonly bytes: number }[] = [];
  const { skills } = local.places();
  for (const name of namesIn(skills)) {
    signal.throwIfAborted();
    const place = path.join(skills, name);
    const usedAt = usedAtOf(place);
    if (usedAt === undefined || now - usedAt < inUseMs) continue;
    copies.push({ place, usedAt, bytes: (await measureDirectory(place)).bytes });
  }
  copies.sort((a, b) => a.usedAt - b.usedAt);
  let bytes = copies.reduce((sum, copy) => sum + copy.bytes, 0);
  for (const { place, bytes: own } of copies) {
    if (bytes <= maxLocalBytes) break;
    // It may have been used while this read the others.
    const usedAt = usedAtOf(place);
    if (usedAt !== undefined && now - usedAt < inUseMs) continue;
    local.putAway(place);
    bytes -= own;
  }
  for (let batch = 0; batch < maxBatches && !signal.aborted; batch++) if ((await expirePacks(database)) === 0) break;
}

function usedAtOf(place: string): number | undefined {
  return attempt(() => lstatSync(place, { throwIfNoEntry: false })?.mtimeMs, undefined);
}
