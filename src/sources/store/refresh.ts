import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { unlessAborted } from "../../base/promises.ts";
import { isSkillsError } from "../../base/errors.ts";
import type { SourceReader } from "../reader.ts";
import { damagedIn, refreshSource } from "./refresh-source.ts";
import type { SourceCopies } from "./source-copies.ts";
import type { SourceState } from "./store-paths.ts";
import type { YoungVersions } from "./young-versions.ts";

export interface RefreshOptions {
  readonly copies: SourceCopies;
  /** Opens a reader for one refresh. */
  readonly openReader: () => Promise<SourceReader>;
  readonly openYoung: () => YoungVersions;
  readonly clock: Clock;
  /** Returns a random number from 0 to 1. */
  readonly random: () => number;
  readonly log: Log;
  /** Called after each refresh. Must not throw. */
  readonly onRead?: () => void;
}

/** The time between two successful refreshes, give or take a tenth, so that many machines do not connect at once. */
export const usualIntervalMs = 60 * 60 * 1_000;
/** The wait after the first failure; doubled after each further one. */
export const firstRetryMs = 5 * 60 * 1_000;
export const maxRetryMs = 24 * 60 * 60 * 1_000;
/** The maximum duration of a refresh, including the downloads of a large source. The next refresh continues unfinished downloads. */
const maxReadMs = 15 * 60 * 1_000;
/** How long another process's claim on a refresh is valid, in case that process dies. */
const claimMs = maxReadMs + 60_000;
const problemsLogged = 5;

/** The outcome of one refresh. */
export interface RefreshOutcome {
  readonly state: SourceState;
  /** Why the copies are still those of an earlier refresh. */
  readonly failure?: string;
}

/** Refreshes the copies of one source at intervals, until `close`. */
export class SourceRefresh {
  readonly #options: RefreshOptions;
  readonly #ending = new AbortController();
  #stopWaiting = (): void => undefined;
  #looking: Promise<RefreshOutcome> | undefined;
  #background: Promise<void> = Promise.resolve();
  #reported = "";

  constructor(options: RefreshOptions) {
    this.#options = options;
  }

  /** Corrects the links after a crash, and refreshes the copies whenever a refresh is due. Never throws. */
  start(): void {
    this.#background = this.#begin().catch((error: unknown) => this.#logOnce(this.#sayUnusable(error)));
  }

  /** Refreshes the copies now, even if no refresh is due; one at a time. Rejects with the reason of the signal, or UNREADABLE. */
  async refresh(signal: AbortSignal): Promise<RefreshOutcome> {
    this.#options.copies.open();
    this.#looking ??= this.#read().finally(() => {
      this.#looking = undefined;
    });
    return await unlessAborted(this.#looking, signal);
  }

  /** Waits until no refresh is running. */
  async idle(): Promise<void> {
    await this.#background;
    await this.#looking?.catch(() => undefined);
  }

  /** Ends a running refresh; the finished copies stay. */
  async close(): Promise<void> {
    this.#stopWaiting();
    this.#ending.abort(new Error("The skills were closed."));
    await this.idle();
  }

  async #begin(): Promise<void> {
    const { copies } = this.#options;
    const { signal } = this.#ending;
    copies.open();
    await copies.reconcile();
    const damaged = await damagedIn(copies, signal).catch(() => []);
    if (signal.aborted) return;
    if (damaged.length > 0) await copies.change((state) => ({ ...state, nextLook: copies.now() }));
    this.#wait();
  }

  #wait(): void {
    const { copies, clock } = this.#options;
    if (this.#ending.signal.aborted) return;
    const ms = Math.min(Math.max(copies.state().nextLook - copies.now(), 0), maxRetryMs);
    this.#stopWaiting = clock.after(ms, () => {
      this.#background = this.#readIfDue().then(
        () => this.#wait(),
        (error: unknown) => {
          if (this.#ending.signal.aborted) return;
          this.#logOnce(this.#sayUnusable(error));
          this.#stopWaiting = clock.after(firstRetryMs, () => this.#wait());
        },
      );
    });
  }

  /** Refreshes the copies, unless another process did so meanwhile or is doing it. */
  async #readIfDue(): Promise<void> {
    const { copies } = this.#options;
    const { now } = copies;
    if (this.#ending.signal.aborted) return;
    const claim = { isMine: false };
    await copies.change((state) => {
      claim.isMine = state.nextLook <= now();
      return claim.isMine ? { ...state, nextLook: now() + claimMs } : undefined;
    });
    if (claim.isMine) await this.refresh(this.#ending.signal);
  }

  async #read(): Promise<RefreshOutcome> {
    const { copies, openReader, openYoung, clock, onRead } = this.#options;
    const { now } = copies;
    const deadline = new AbortController();
    const stop = clock.after(maxReadMs, () =>
      deadline.abort(new Error(`it took longer than ${maxReadMs / 60_000} minutes`)),
    );
    const signal = AbortSignal.any([this.#ending.signal, deadline.signal]);
    try {
      const reader = await openReader();
      try {
        await refreshSource({ copies, reader, young: openYoung(), signal });
      } finally {
        await reader.close();
      }
      const state = await copies.change((found) => ({ ...found, nextLook: now() + this.#jittered(usualIntervalMs) }));
      this.#logOnce(sayProblems(state));
      return { state };
    } catch (error) {
      if (this.#ending.signal.aborted) {
        // The next process need not wait for the end of the claim.
        await copies.change((found) => ({ ...found, nextLook: now() })).catch(() => undefined);
        throw error;
      }
      return await this.#keepCopies(error);
    } finally {
      stop();
      onRead?.();
    }
  }

  async #keepCopies(error: unknown): Promise<RefreshOutcome> {
    const { copies } = this.#options;
    const { source, now } = copies;
    const failure = error instanceof Error ? error.message : String(error);
    const state = await copies.change((found) => {
      const failures = found.failures + 1;
      const retryMs = Math.min(firstRetryMs * 2 ** Math.min(found.failures, 20), maxRetryMs);
      const wait = Math.max(this.#jittered(retryMs), Math.min(retryAfterMs(error), maxRetryMs));
      return { ...found, failures, failure, lastLook: now(), nextLook: now() + wait };
    });
    this.#logOnce(`The skills of ${source.label} could not be read: ${sayFailure(state)}`);
    return { state, failure };
  }

  #jittered(ms: number): number {
    return Math.round(ms * (0.9 + 0.2 * this.#options.random()));
  }

  #sayUnusable(error: unknown): string {
    const why = error instanceof Error ? error.message : String(error);
    return `The copies of the skills of ${this.#options.copies.source.label} cannot be changed: ${why}`;
  }

  /** Logs a message, unless it is the same as last time. */
  #logOnce(message: string): void {
    if (message !== this.#reported && message !== "") this.#options.log("warning", message);
    this.#reported = message;
  }
}

/** Describes the failure of a source, and the copy that is used instead. */
export function sayFailure({ failure = "", lastGood, skills }: SourceState): string {
  const why = failure.replace(/\.?$/, ".");
  if (lastGood === undefined && skills.length === 0) return `${why} There is no copy of them yet.`;
  const at = lastGood === undefined ? "" : ` of ${new Date(lastGood).toISOString().slice(0, 16)}Z`;
  return `${why} The last good copy${at} stays in use.`;
}

function sayProblems({ label, problems }: SourceState): string {
  if (problems.length === 0) return "";
  const more = problems.length - problemsLogged;
  const rest = more <= 0 ? "" : `; … and ${more} more`;
  return `Not all of ${label} can be used: ${problems.slice(0, problemsLogged).join("; ")}${rest}`;
}

function retryAfterMs(error: unknown): number {
  const seconds = isSkillsError(error) ? error.facts.retryAfterSeconds : undefined;
  return typeof seconds === "number" && seconds > 0 ? seconds * 1_000 : 0;
}
