import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { assemble } from "./scan/assemble.ts";
import { diffSnapshots, isEmptyChange, isSameProblems } from "./diff.ts";
import { openHold } from "./watch/hold.ts";
import type { Problem } from "./rules/problem.ts";
import type { Root } from "./scan/roots.ts";
import { openScan } from "./scan/scan.ts";
import { openSettle } from "./watch/settle.ts";
import { openStarvation } from "./scan/starvation.ts";
import { countSkills } from "./rules/skill-counts.ts";
import type { SkillFiles } from "./files/skill-files.ts";
import type { OpenSkillWatcher } from "./watch/skill-watcher.ts";
import type { Change, OfferedSkill, Snapshot } from "./skill.ts";
import { runInSlices } from "../base/slices.ts";

/** Told after the snapshot was replaced. `change` names no skill when only problems differ. Must not throw. */
type CatalogListener = (snapshot: Snapshot, change: Change) => void;

/** Which skills there are, now. Never throws for what it finds on disk: that is in `snapshot.problems`. */
export interface Catalog {
  /** Empty until the roots were read for the first time; replaced whole, never changed. */
  readonly snapshot: Snapshot;
  /** Resolves with the first snapshot; never rejects. */
  readonly ready: Promise<Snapshot>;
  /** Reads everything anew, and resolves with the snapshot that counts then; with a watcher, a loss is doubted for 40 ms. */
  reload(): Promise<Snapshot>;
  /** Calls back once for each difference after the first snapshot; the returned function ends that. */
  onChange(listener: CatalogListener): () => void;
  /** By slug or by canonical name (C-1.2). */
  find(nameOrSlug: string): OfferedSkill | undefined;
  /** Ends watching; the last snapshot stays readable. */
  close(): Promise<void>;
}

export interface CatalogOptions {
  /** Most important first. */
  readonly roots: readonly Root[];
  readonly files: SkillFiles;
  /** Without one, the catalog changes only by `reload()`. */
  readonly openWatcher?: OpenSkillWatcher;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds of reading at a stretch before other work gets its turn; Infinity for a one-shot listing. */
  readonly slice?: number;
}

const nothing: Snapshot = Object.freeze({
  skills: Object.freeze([]),
  problems: Object.freeze([]),
  counts: countSkills([], []),
});
const usualSlice = 3;
/** So many hints at a time are near what the system's queue holds (16,384 events); beyond that it drops some. */
const manyHints = 8000;

/** Opens a catalog over `roots` and starts to read them. */
export function openCatalog({ roots, files, openWatcher, clock, log, slice = usualSlice }: CatalogOptions): Catalog {
  const listeners = new Set<CatalogListener>();
  let snapshot = nothing;
  let isReady = false;
  let isClosed = false;
  let lastFailure = "";
  let lastLook: Promise<void> = Promise.resolve();
  let isWanted = false;
  let hints = 0;
  /** For how long nothing had happened when a look was due; 0 once something has. */
  let quiet = 0;
  let names: Map<string, OfferedSkill> | undefined;

  const settle = openSettle(clock, (milliseconds) => {
    quiet = milliseconds;
    lookSoon();
  });
  const hold = openHold(clock, (directory) => {
    scan.markDirectoryStale(directory);
    lookSoon();
  });
  const watcher = openWatcher?.(
    (directory, name) => {
      if (isClosed || !scan.markStale(directory, name)) return;
      hints++;
      quiet = 0;
      settle.hint(directory);
    },
    (message) => log("warning", message),
  );
  const starvation = openStarvation(files, clock, () => {
    scan.markAllStale();
    lookSoon();
  });
  const scan = openScan({
    roots,
    files: starvation.files,
    now: () => clock.now(),
    ...(watcher && {
      onDirectory: (directory: string) => watcher.add(directory),
      onForgotten: (directory: string) => watcher.remove(directory),
      isHeld: (directory, before, now) => hold.isHeld(directory, before, now, quiet),
    }),
  });

  /** One look at a time; what happens meanwhile is seen by one more. */
  function look(): Promise<void> {
    lastLook = lastLook.then(lookOnce);
    return lastLook;
  }
  function lookSoon(): void {
    if (isWanted) return;
    isWanted = true;
    void look();
  }
  async function lookOnce(): Promise<void> {
    isWanted = false;
    if (isClosed) return;
    if (hints > manyHints) scan.markAllStale();
    hints = 0;
    try {
      const found = await runInSlices(scan.run(), { now: () => clock.now(), slice });
      replaceBy(assemble(found, snapshot));
      lastFailure = "";
    } catch (error) {
      keepOld(error);
    }
    starvation.afterLook();
  }
  function replaceBy(next: Snapshot): void {
    if (isClosed) return;
    const before = snapshot;
    const change = diffSnapshots(before, next);
    if (isEmptyChange(change) && isSameProblems(before.problems, next.problems)) return;
    snapshot = next;
    names = undefined;
    if (isReady) for (const listener of [...listeners]) listener(next, change);
  }
  /** Told once, not for each of a row of equal failures. */
  function keepOld(error: unknown): void {
    scan.markAllStale();
    const message = error instanceof Error ? error.message : String(error);
    if (message === lastFailure) return;
    lastFailure = message;
    log("error", `Reading the skills failed, so the last list keeps serving: ${message}`);
    if (isReady) return;
    const file = roots[0]?.path ?? "skills";
    const fix = "Read the log, then start again.";
    const problem: Problem = { code: "unreadable", severity: "error", file, line: 1, column: 1, message, fix };
    snapshot = Object.freeze({ skills: [], problems: [problem] });
  }

  const ready = look().then(() => {
    isReady = true;
    return snapshot;
  });
  return {
    get snapshot() {
      return snapshot;
    },
    ready,
    async reload() {
      await ready;
      quiet = 0;
      scan.markAllStale();
      await look();
      return snapshot;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    find(nameOrSlug) {
      names ??= new Map([
        ...snapshot.skills.map((offer) => [offer.skill.name, offer] as const),
        ...snapshot.skills.map((offer) => [offer.skill.slug, offer] as const),
      ]);
      return names.get(nameOrSlug);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      listeners.clear();
      settle.close();
      starvation.close();
      hold.close();
      await watcher?.close();
    },
  };
}
