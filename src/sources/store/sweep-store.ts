import { randomBytes } from "node:crypto";
import { lstat, rm } from "node:fs/promises";
import path from "node:path";
import { namesIn } from "../../base/paths/directories.ts";
import type { TurnLock } from "../../base/processes/turn-lock.ts";
import { statesIn } from "./source-copies.ts";
import type { StorePaths } from "./store-paths.ts";

const dayMs = 24 * 60 * 60 * 1_000;
/** Sessions follow new versions at once; a run that has begun with an older one takes at most 10 minutes. */
export const copyRetentionMs = dayMs;
/** A process that uses a source looks at it at least once a day. */
export const sourceRetentionMs = 30 * dayMs;
/** An older one is of a process that died: no download takes so long. */
const incomingKeptMs = dayMs;

/** Removes the copies that no source has referred to for a day, and sources that nobody has looked at for 30 days. */
export async function sweepStore(paths: StorePaths, turns: TurnLock, now: number): Promise<void> {
  await turns.exclusive(async (turn) => {
    const away = (place: string): void => turn.move(place, path.join(paths.trash, randomBytes(8).toString("hex")));
    for (const { directory, state } of statesIn(paths)) {
      if (now - (state?.lastLook ?? (await modifiedAt(directory))) > sourceRetentionMs) away(directory);
    }
    const used = new Set(
      statesIn(paths).flatMap(({ state }) => (state?.skills ?? []).map(({ digest }) => digest.replace(/^sha256:/, ""))),
    );
    for (const name of namesIn(paths.store)) {
      const place = path.join(paths.store, name);
      if (!used.has(name) && now - (await modifiedAt(place)) > copyRetentionMs) away(place);
    }
    for (const name of namesIn(paths.incoming)) {
      const place = path.join(paths.incoming, name);
      if (now - (await modifiedAt(place)) > incomingKeptMs) away(place);
    }
  });
  // Nobody else moves something there and still needs it.
  for (const name of namesIn(paths.trash)) await rm(path.join(paths.trash, name), { recursive: true, force: true });
}

/** Infinity for what is gone. */
async function modifiedAt(place: string): Promise<number> {
  return await lstat(place).then(
    ({ mtimeMs }) => mtimeMs,
    () => Infinity,
  );
}
