import path from "node:path";
import type { DirectoryRecord } from "../files/read-directory.ts";
import { joinPath } from "../files/real-paths.ts";
import type { Root } from "./roots.ts";

/** What runs of a scan remember: the records of directories, which of them are stale, and what is watched. */
export interface ScanMemory {
  startRun(): void;
  /** Forgets what this run did not meet. */
  endRun(): void;
  /** What is known of a directory, stale or not. */
  recall(directory: string): Known | undefined;
  /** Whether this run met the directory under this root already. */
  wasMet(known: Known, root: Root): boolean;
  /** Whether this run met the directory under any root. */
  wasRead(directory: string): boolean;
  /** Whether a directory need not be read anew. */
  isFresh(known: Known, expectedName: string): boolean;
  /** The record, met under this root, is fresh from now on. `known` is what is known of its directory. */
  remember(record: DirectoryRecord, root: Root, known: Known | undefined): void;
  /** The directory was met under this root, and need not be read anew. */
  meet(known: Known, root: Root): void;
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

/** What is known of a directory. */
export interface Known {
  record: DirectoryRecord;
  stale: boolean;
  /** The run and the root that met it last. */
  run: number;
  root: Root;
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

  function meet(entry: Known, root: Root): void {
    entry.run = run;
    entry.root = root;
  }
  function noteDependence(record: DirectoryRecord): void {
    for (const { target, watch } of record.elsewhere) {
      if (onDirectory !== undefined) watched.set(watch, run);
      const directories = nextDependents.get(target) ?? new Set();
      nextDependents.set(target, directories.add(record.path));
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
    recall: (directory) => known.get(directory),
    wasMet: (entry, root) => entry.run === run && entry.root === root,
    wasRead: (directory) => known.get(directory)?.run === run,
    isFresh: (entry, expectedName) => entry.run === run || (!entry.stale && entry.record.expectedName === expectedName),
    remember(record, root, entry) {
      if (entry === undefined) known.set(record.path, { record, stale: false, run, root });
      else {
        entry.record = record;
        entry.stale = false;
        meet(entry, root);
      }
      if (record.elsewhere.length > 0) noteDependence(record);
    },
    meet(entry, root) {
      meet(entry, root);
      if (entry.record.elsewhere.length > 0) noteDependence(entry.record);
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
        concerns ||= roots.some((root) => root.path === target);
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
