import path from "node:path";
import type { DirectoryRecord } from "./read-directory.ts";
import { joinPath } from "./real-paths.ts";
import type { Root } from "./roots.ts";

/** What runs of a scan remember: the records of directories, which of them are stale, and what is watched. */
export interface ScanMemory {
  startRun(): void;
  /** Forgets what this run did not meet. */
  endRun(): void;
  /** Whether this run met the directory under this root already. */
  wasMet(directory: string, root: Root): boolean;
  /** What is known of a directory, unless it is to be read anew. */
  fresh(directory: string, expectedName: string): DirectoryRecord | undefined;
  /** What is known of a directory, stale or not. */
  recall(directory: string): DirectoryRecord | undefined;
  /** The record is fresh from now on. */
  remember(record: DirectoryRecord): void;
  meet(record: DirectoryRecord, root: Root): void;
  watch(directory: string): void;
  /** What is known of the directory to which a root led when last seen. */
  realRoot(root: Root): DirectoryRecord | undefined;
  setRealRoot(root: Root, real: string | undefined): void;
  markAllStale(): void;
  /** That directory alone is to be read anew. False when it concerns nothing that was found. */
  markDirectoryStale(directory: string): boolean;
  /**
   * Something happened in a directory: to `name` and all below it, or, without a name, to all of it.
   * False when that concerns nothing that was found.
   */
  markStale(directory: string, name?: string): boolean;
}

interface Known {
  record: DirectoryRecord;
  stale: boolean;
  /** The run and the root that met it last. */
  run: number;
  root: Root | undefined;
}

export interface ScanMemoryEvents {
  readonly onDirectory?: (directory: string) => void;
  readonly onForgotten?: (directory: string) => void;
}

export function openScanMemory(roots: readonly Root[], { onDirectory, onForgotten }: ScanMemoryEvents): ScanMemory {
  const known = new Map<string, Known>();
  const realRoots = new Map<Root, string>();
  /** Watched directories, and the run that asked for them last. */
  const watched = new Map<string, number>();
  /** Which directories depend on something elsewhere, by its path: as the last run saw it, and as this run sees it. */
  let dependents = new Map<string, Set<string>>();
  let nextDependents = new Map<string, Set<string>>();
  let run = 0;

  function markDirectoryStale(directory: string): boolean {
    const entry = known.get(directory);
    if (entry !== undefined) entry.stale = true;
    let concerns = entry !== undefined;
    for (const map of [dependents, nextDependents]) {
      for (const dependent of map.get(directory) ?? []) {
        concerns = true;
        const other = known.get(dependent);
        if (other !== undefined) other.stale = true;
      }
    }
    return concerns;
  }
  function markTree(directory: string): void {
    const entry = known.get(directory);
    if (entry === undefined) return;
    entry.stale = true;
    for (const { name, target } of entry.record.children) {
      if (target === undefined) markTree(joinPath(directory, name));
    }
  }

  return {
    startRun() {
      run++;
      nextDependents = new Map();
    },
    endRun() {
      dependents = nextDependents;
      for (const [directory, entry] of known) if (entry.run !== run) known.delete(directory);
      for (const [directory, when] of watched) {
        if (when === run || known.has(directory)) continue;
        watched.delete(directory);
        onForgotten?.(directory);
      }
    },
    wasMet(directory, root) {
      const entry = known.get(directory);
      return entry?.run === run && entry.root === root;
    },
    fresh(directory, expectedName) {
      const entry = known.get(directory);
      if (entry === undefined) return undefined;
      const isFresh = entry.run === run || (!entry.stale && entry.record.expectedName === expectedName);
      return isFresh ? entry.record : undefined;
    },
    recall: (directory) => known.get(directory)?.record,
    remember(record) {
      const entry = known.get(record.path);
      if (entry === undefined) known.set(record.path, { record, stale: false, run: 0, root: undefined });
      else {
        entry.record = record;
        entry.stale = false;
      }
    },
    meet(record, root) {
      const entry = known.get(record.path);
      if (entry !== undefined) {
        entry.run = run;
        entry.root = root;
      }
      for (const { target, watch } of record.elsewhere) {
        if (onDirectory !== undefined) watched.set(watch, run);
        const directories = nextDependents.get(target) ?? new Set();
        nextDependents.set(target, directories.add(record.path));
      }
    },
    watch(directory) {
      if (onDirectory === undefined) return;
      watched.set(directory, run);
      onDirectory(directory);
    },
    realRoot(root) {
      const real = realRoots.get(root);
      return real === undefined ? undefined : known.get(real)?.record;
    },
    setRealRoot(root, real) {
      if (real === undefined) realRoots.delete(root);
      else realRoots.set(root, real);
    },
    markAllStale() {
      for (const entry of known.values()) entry.stale = true;
    },
    markDirectoryStale,
    markStale(directory, name) {
      const ofRoots = roots.filter((root) => root.path === directory);
      let concerns = markDirectoryStale(directory) || ofRoots.length > 0;
      for (const root of ofRoots) markDirectoryStale(realRoots.get(root) ?? root.path);
      if (name !== undefined) {
        const target = joinPath(directory, name);
        markTree(target);
        return markDirectoryStale(target) || concerns;
      }
      markTree(directory);
      for (const root of ofRoots) markTree(realRoots.get(root) ?? root.path);
      for (const map of [dependents, nextDependents]) {
        for (const target of map.keys())
          if (path.dirname(target) === directory) concerns = markDirectoryStale(target) || concerns;
      }
      return concerns;
    },
  };
}
