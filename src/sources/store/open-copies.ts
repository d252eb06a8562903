import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { TurnLock } from "../../base/processes/turn-lock.ts";
import { type Source, sourceKey } from "../source.ts";
import type { SourceReader } from "../reader.ts";
import { type RefreshOutcome, SourceRefresh } from "./refresh.ts";
import { type SkillReading, SkillStore } from "./skill-store.ts";
import { SourceCopies } from "./source-copies.ts";
import { type StorePlaces, sourcePlaces, storePlaces } from "./store-places.ts";
import { randomBytes } from "node:crypto";
import { lstatSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { namesIn } from "../../base/paths/directories.ts";
import { type SourceState, readState } from "./source-state.ts";

interface CopiesOptions {
  readonly dataDirectory: string;
  readonly sources: readonly Source[];
  readonly reading: SkillReading;
  /** For one look at one source. */
  readonly openReader: () => Promise<SourceReader>;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** From 0 to 1. */
  readonly random?: () => number;
}

/** The copies of the skills of some sources. */
export interface Copies {
  /** Keeps them up to date from now on, in the background. */
  start(): void;
  /** Looks at all sources now; outcomes are in their order. Rejects with the reason of the signal, or UNREADABLE. */
  refresh(signal: AbortSignal): Promise<readonly RefreshOutcome[]>;
  /** Idempotent; never throws. */
  close(): Promise<void>;
}

const sweepEveryMs = 24 * 60 * 60 * 1_000;

/** Opens the store. Nothing is read or written before `start` or `refresh`. */
export function openCopies(options: CopiesOptions): Copies {
  const { dataDirectory, sources, reading, openReader, clock, log, now = Date.now, random = Math.random } = options;
  const places = storePlaces(dataDirectory);
  const turns = new TurnLock(places.turns, { pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) });
  const store = new SkillStore(places, reading);
  let sweptAt = -Infinity;
  let sweeping: Promise<void> = Promise.resolve();

  function sweepSometimes(): void {
    if (now() - sweptAt < sweepEveryMs) return;
    sweptAt = now();
    sweeping = sweepStore(places, turns, now()).catch((error: unknown) => {
      log("warning", `Old copies of skills in ${places.store} were not removed: ${String(error)}`);
    });
  }

  const refreshes = sources.map((source) => {
    const copies = new SourceCopies({ source, places, store, turns, now });
    const own = sourcePlaces(places, sourceKey(source)).directory;
    const otherBytes = (): number =>
      statesIn(places)
        .filter(({ directory }) => directory !== own)
        .reduce((sum, { state }) => sum + (state?.skills ?? []).reduce((all, { bytes }) => all + bytes, 0), 0);
    return new SourceRefresh({
      source,
      copies,
      store,
      openReader,
      otherBytes,
      clock,
      now,
      random,
      log,
      onLook: sweepSometimes,
    });
  });
  let closing: Promise<void> | undefined;

  return {
    start() {
      for (const refresh of refreshes) refresh.start();
    },
    async refresh(signal) {
      return await Promise.all(refreshes.map((one) => one.refresh(signal)));
    },
    async close() {
      closing ??= Promise.all(refreshes.map((one) => one.close())).then(() => sweeping);
      await closing;
    },
  };
}

const dayMs = 24 * 60 * 60 * 1_000;
/** Sessions follow new versions at once; a run that has begun with an older one takes at most 10 minutes. */
export const copyRetentionMs = dayMs;
/** A process that uses a source looks at it at least once a day. */
export const sourceRetentionMs = 30 * dayMs;
/** An older one is of a process that died: no download takes so long. */
const incomingKeptMs = dayMs;

/** Removes the copies that no source has referred to for a day, and sources that nobody has looked at for 30 days. */
export async function sweepStore(places: StorePlaces, turns: TurnLock, now: number): Promise<void> {
  await turns.exclusive((turn) => {
    const away = (place: string): void => turn.move(place, path.join(places.trash, randomBytes(8).toString("hex")));
    for (const { directory, state } of statesIn(places)) {
      if (now - (state?.lastLook ?? modifiedAt(directory)) > sourceRetentionMs) away(directory);
    }
    const used = new Set(
      statesIn(places).flatMap(({ state }) =>
        (state?.skills ?? []).map(({ digest }) => digest.replace(/^sha256:/, "")),
      ),
    );
    for (const name of namesIn(places.store)) {
      const place = path.join(places.store, name);
      if (!used.has(name) && now - modifiedAt(place) > copyRetentionMs) away(place);
    }
    for (const name of namesIn(places.incoming)) {
      const place = path.join(places.incoming, name);
      if (now - modifiedAt(place) > incomingKeptMs) away(place);
    }
    return Promise.resolve();
  });
  // Nobody else moves something there and still needs it.
  for (const name of namesIn(places.trash)) await rm(path.join(places.trash, name), { recursive: true, force: true });
}

/** The states of all sources that were ever read. */
function statesIn(
  places: StorePlaces,
): readonly { readonly directory: string; readonly state: SourceState | undefined }[] {
  return namesIn(places.sources).map((key) => {
    const { directory, state } = sourcePlaces(places, key);
    return { directory, state: readState(state) };
  });
}

/** Infinity for what is gone. */
function modifiedAt(place: string): number {
  return lstatSync(place, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
}
