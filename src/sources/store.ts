import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { TurnLock } from "../base/processes/turn-lock.ts";
import { type SkillHasher, createSkillHasher } from "../skills/hash.ts";
import type { SourceDenial, SourceReader } from "./reader.ts";
import { parseSource } from "./source.ts";
import { type RefreshOutcome, SourceRefresh } from "./store/refresh.ts";
import { SkillStore } from "./store/skill-store.ts";
import { SourceCopies } from "./store/source-copies.ts";
import { storePaths } from "./store/store-paths.ts";
import { sweepStore } from "./store/sweep-store.ts";
import { openYoungVersions } from "./store/young-versions.ts";

export { sayFailure } from "./store/refresh.ts";
export { SkillStore } from "./store/skill-store.ts";
export { type StorePaths, copyPath, makeStorePaths, storePaths } from "./store/store-paths.ts";
export { sweepStore } from "./store/sweep-store.ts";

export interface SourcesOptions {
  readonly dataDirectory: string;
  /** The sources, as the user names them. */
  readonly sources: readonly string[];
  /** Hosts with private addresses to which connections are allowed. */
  readonly allowPrivate: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
}

/** Replaceable dependencies, for tests. */
export interface SourcesPorts {
  readonly hasher?: SkillHasher;
  readonly openReader?: () => Promise<SourceReader>;
  readonly denied?: SourceDenial;
  /** How many days old a version must be before it replaces the copy of an older one. Default: 0. */
  readonly minimumAge?: () => number;
  /** Returns the time in milliseconds since 1970. */
  readonly now?: () => number;
}

/** The copies of the skills of some sources. */
export interface Copies {
  /** Updates the copies from now on, in the background. */
  start(): void;
  /** Reads all sources now; outcomes are in the order of the sources. Rejects with the reason of the signal, or UNREADABLE. */
  refresh(signal: AbortSignal): Promise<readonly RefreshOutcome[]>;
  /** Ends all background work. Idempotent; never throws. */
  close(): Promise<void>;
}

const sweepEveryMs = 24 * 60 * 60 * 1_000;

/**
 * Opens the copies of skills from remote sources. Nothing is read or written before `start` or `refresh`. Throws INVALID_OPTIONS for a
 * text that names no source.
 */
export function openSourceCopies(
  { dataDirectory, sources: texts, allowPrivate, clock, log }: SourcesOptions,
  { hasher = createSkillHasher(), openReader, denied, minimumAge = () => 0, now = Date.now }: SourcesPorts = {},
): Copies {
  const sources = texts.map(parseSource);
  const paths = storePaths(dataDirectory);
  const turns = new TurnLock(paths.turns);
  const store = new SkillStore(paths, hasher);
  let sweptAt = -Infinity;
  let sweeping: Promise<void> = Promise.resolve();

  async function openNetworkReader(): Promise<SourceReader> {
    const { openSourceReader } = await import("./reader.ts");
    return openSourceReader({ allowPrivate, typed: sources.map(({ url }) => url), denied });
  }

  function onRead(): void {
    if (now() - sweptAt < sweepEveryMs) return;
    sweptAt = now();
    sweeping = sweepStore(paths, turns, now()).catch((error: unknown) => {
      log("warning", `Old copies of skills in ${paths.store} were not removed: ${String(error)}`);
    });
  }

  const refreshes = sources.map((source) => {
    const copies = new SourceCopies({ source, paths, store, turns, now });
    return new SourceRefresh({
      copies,
      openReader: openReader ?? openNetworkReader,
      openYoung: () => openYoungVersions(source.label, { dataDirectory, minimumDays: minimumAge(), now }),
      clock,
      random: Math.random,
      log,
      onRead,
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
