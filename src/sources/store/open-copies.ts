import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { TurnLock } from "../../base/processes/turn-lock.ts";
import { type Source, sourceKey } from "../source.ts";
import type { SourceReader } from "../reader.ts";
import { type RefreshOutcome, SourceRefresh } from "./refresh.ts";
import { type SkillReading, SkillStore } from "./skill-store.ts";
import { SourceCopies } from "./source-copies.ts";
import { sourcePlaces, storePlaces } from "./store-places.ts";
import { statesIn, sweepStore } from "./sweep.ts";

export interface CopiesOptions {
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
