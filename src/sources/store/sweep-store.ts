import { randomBytes } from "node:crypto";
import { lstat, rm } from "node:fs/promises";
import path from "node:path";
import { namesIn } from "../../base/paths/directories.ts";
import type { TurnLock } from "../../base/processes/turn-lock.ts";
import { statesIn } from "./source-copies.ts";
import type { StorePaths } from "./store-paths.ts";

const dayMs = 24 * 60 * 60 * 1_000;
/** How long unused copies are retained: a run with an old version takes at most 10 minutes, and sessions adopt new ones at once. */
export const copyRetentionMs = dayMs;
/** How long unused sources are retained: a process that uses a source refreshes it at least once a day. */
export const sourceRetentionMs = 30 * dayMs;
/** The maximum age of incoming files: older ones belong to a process that died, because no download takes a day. */
const maxIncomingAgeMs = dayMs;

/** Removes copies to which no source has referred for a day, and sources that were not refreshed for 30 days. */
export async function sweepStore(paths: StorePaths, turns: TurnLock, now: number): Promise<void> {
  await turns.exclusive(async (turn) => {
    const away = (item: string): void => turn.move(item, path.join(paths.trash, randomBytes(8).toString("hex")));
    for (const { directory, state } of statesIn(paths)) {
      if (now - (state?.lastLook ?? (await modifiedAt(directory))) > sourceRetentionMs) away(directory);
    }
    const used = new Set(
      statesIn(paths).flatMap(({ state }) => (state?.skills ?? []).map(({ digest }) => digest.replace(/^sha256:/, ""))),
    );
    for (const name of namesIn(paths.store)) {
      const directory = path.join(paths.store, name);
      if (!used.has(name) && now - (await modifiedAt(directory)) > copyRetentionMs) away(directory);
    }
    for (const name of namesIn(paths.incoming)) {
      const directory = path.join(paths.incoming, name);
      if (now - (await modifiedAt(directory)) > maxIncomingAgeMs) away(directory);
    }
  });
  // No process moves a file to the trash and still needs it.
  for (const name of namesIn(paths.trash)) await rm(path.join(paths.trash, name), { recursive: true, force: true });
}

/** Returns the time of the last change; Infinity for a missing file. */
async function modifiedAt(directory: string): Promise<number> {
  return await lstat(directory).then(
    ({ mtimeMs }) => mtimeMs,
    () => Infinity,
  );
}
