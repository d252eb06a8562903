import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { assemble, diffSnapshots, isEmptyChange, isDeepEqualList, isOwnRoot } from "./assemble.ts";
import type { Problem } from "../rules/problem.ts";
import type { Root } from "./roots.ts";
import { Scan } from "./scan.ts";
import type { ScanResult } from "./scan/scan-memory.ts";
import type { SkillFiles } from "../files.ts";
import { type Debounce, type Hold, type Starvation, openDebounce, openHold, openStarvation } from "./watch/debounce.ts";
import type { OpenSkillWatcher, SkillWatcher } from "./watch.ts";
import type { Change, OfferedSkill, Snapshot } from "../skill.ts";
import { runInSlices } from "../../base/promises.ts";

/** Receives each new snapshot. `change` is empty if only problems differ. Must not throw. */
type CatalogListener = (snapshot: Snapshot, change: Change) => void;

export interface CatalogOptions {
  /** The roots in order of precedence. */
  readonly roots: readonly Root[];
  readonly files: SkillFiles;
  /** Opens the watcher. If absent, the catalog changes only by `reload()`. */
  readonly openWatcher?: OpenSkillWatcher;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds of reading before other work gets a turn; Infinity for a one-shot listing, which reads everything at once. */
  readonly slice?: number;
}

const usualSlice = 3;
/** A burst of this many hints is close to the capacity of the system's event queue (16,384), which drops further events. */
const manyHints = 8000;

/** The skills that exist now. Never throws because of the content of the disk: faults are in `snapshot.problems`. */
export class Catalog {
  /** Resolves with the first snapshot; never rejects. */
  readonly ready: Promise<Snapshot>;
  readonly #roots: readonly Root[];
  readonly #ownRoots: readonly string[];
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #slice: number;
  readonly #scan: Scan;
  readonly #debounce: Debounce;
  readonly #hold: Hold;
  readonly #starvation: Starvation;
  readonly #watcher: SkillWatcher | undefined;
  readonly #listeners = new Set<CatalogListener>();
  #snapshot: Snapshot;
  #isReady = false;
  #isClosed = false;
  #lastFailure = "";
  #lastRescan: Promise<void> = Promise.resolve();
  #isRescanPlanned = false;
  #hints = 0;
  /** The number of directories that were known when the last scan ran out of time. */
  #reached = 0;
  /** The milliseconds without hints before the scan that is due; 0 after any later change. */
  #quiet = 0;
  #names: Map<string, OfferedSkill> | undefined;

  /** Starts reading the roots. */
  constructor({ roots, files, openWatcher, clock, log, slice = usualSlice }: CatalogOptions) {
    [this.#roots, this.#clock, this.#log, this.#slice] = [roots, clock, log, slice];
    this.#ownRoots = Object.freeze(roots.filter(isOwnRoot).map(({ path }) => path));
    this.#snapshot = Object.freeze({ ...assemble({ skills: [], findings: [] }), ownRoots: this.#ownRoots });
    this.#debounce = openDebounce(clock, (ms) => {
      this.#quiet = ms;
      this.#planRescan();
    });
    this.#hold = openHold(clock, (directory) => {
      this.#scan.memory.markDirectoryStale(directory);
      this.#planRescan();
    });
    const watcher = openWatcher?.(
      (directory, name) => this.#onHint(directory, name),
      (message) => log("warning", message),
    );
    this.#watcher = watcher;
    this.#starvation = openStarvation(files, clock, () => {
      this.#scan.memory.markAllStale();
      this.#planRescan();
    });
    this.#scan = new Scan({
      roots,
      files: this.#starvation.files,
      now: () => clock.now(),
      ...(slice === Infinity && { limits: { durationMs: Infinity } }),
      ...(watcher && {
        onDirectory: (directory: string) => watcher.add(directory),
        onForgotten: (directory: string) => watcher.remove(directory),
        isHeld: (directory, before, now) => this.#hold.isHeld(directory, before, now, this.#quiet),
      }),
    });
    this.ready = this.#rescan().then(() => {
      this.#isReady = true;
      return this.#snapshot;
    });
  }

  /** Empty until the roots were read for the first time; replaced as a whole, never modified. */
  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  /** Reads everything again and resolves with the current snapshot; with a watcher, a loss is held back for 40 ms. */
  async reload(): Promise<Snapshot> {
    await this.ready;
    this.#quiet = 0;
    this.#scan.memory.markAllStale();
    await this.#rescan();
    return this.#snapshot;
  }

  /** Calls back once per change after the first snapshot; the returned function unsubscribes. */
  onChange(listener: CatalogListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Finds a skill by its slug or canonical name. */
  find(nameOrSlug: string): OfferedSkill | undefined {
    this.#names ??= new Map([
      ...this.#snapshot.skills.map((offer) => [offer.skill.name, offer] as const),
      ...this.#snapshot.skills.map((offer) => [offer.skill.slug, offer] as const),
    ]);
    return this.#names.get(nameOrSlug);
  }

  /** Stops watching; the last snapshot stays readable. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listeners.clear();
    this.#debounce.close();
    this.#starvation.close();
    this.#hold.close();
    await this.#watcher?.close();
  }

  #onHint(directory: string, name: string | undefined): void {
    if (this.#isClosed || !this.#scan.memory.markStale(directory, name)) return;
    this.#hints++;
    this.#quiet = 0;
    this.#debounce.hint(directory);
  }

  /** Runs one scan at a time; a change during a scan leads to one more. */
  #rescan(): Promise<void> {
    this.#lastRescan = this.#lastRescan.then(() => this.#rescanOnce());
    return this.#lastRescan;
  }

  #planRescan(): void {
    if (this.#isRescanPlanned) return;
    this.#isRescanPlanned = true;
    void this.#rescan();
  }

  async #rescanOnce(): Promise<void> {
    this.#isRescanPlanned = false;
    if (this.#isClosed) return;
    if (this.#hints > manyHints) this.#scan.memory.markAllStale();
    this.#hints = 0;
    try {
      const found = await runInSlices(this.#scan.run(), { now: () => this.#clock.now(), slice: this.#slice });
      this.#replaceBy(Object.freeze({ ...assemble(found, this.#snapshot), ownRoots: this.#ownRoots }));
      this.#lastFailure = "";
      this.#goOn(found);
    } catch (error) {
      this.#keepOld(error);
    }
    this.#starvation.afterScan();
  }

  /** Scans again if time was too short, as long as each scan gets further. */
  #goOn({ findings }: ScanResult): void {
    const known = findings.some(({ code }) => code === "not-read-in-time") ? this.#scan.memory.directories : 0;
    if (known > this.#reached) this.#planRescan();
    this.#reached = known;
  }

  #replaceBy(next: Snapshot): void {
    if (this.#isClosed) return;
    const before = this.#snapshot;
    const change = diffSnapshots(before, next);
    if (isEmptyChange(change) && isDeepEqualList(before.problems, next.problems)) return;
    this.#snapshot = next;
    this.#names = undefined;
    if (this.#isReady) for (const listener of [...this.#listeners]) listener(next, change);
  }

  /** Handles a failed scan: marks everything stale, and logs consecutive equal failures once. */
  #keepOld(error: unknown): void {
    this.#scan.memory.markAllStale();
    const message = error instanceof Error ? error.message : String(error);
    if (message === this.#lastFailure) return;
    this.#lastFailure = message;
    this.#log("error", `Reading the skills failed; the previous list stays in use: ${message}`);
    if (this.#isReady) return;
    const file = this.#roots[0]?.path ?? "skills";
    const fix = "See the log, then restart.";
    const facts = { message: message.replace(/\.$/, ""), fix };
    const problem: Problem = { code: "unreadable", severity: "error", file, line: 1, column: 1, ...facts };
    this.#snapshot = Object.freeze({ skills: [], problems: [problem], ownRoots: this.#ownRoots });
  }
}

/** A catalog as commands read it. */
export type CatalogReader = Pick<Catalog, "find" | "snapshot">;
