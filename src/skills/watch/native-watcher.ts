import { watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import path from "node:path";
import { joinPath } from "../../base/paths/at-real-path.ts";
import { followLast, followPath, identityOf, isSameWay, noWay } from "../files/follow-path.ts";
import type { Step, Way } from "../files/follow-path.ts";
import { openPollingWatcher } from "./polling-watcher.ts";
import { shareWatcher } from "./skill-watcher.ts";
import type { Hint, OpenSkillWatcher, SkillWatcher } from "./skill-watcher.ts";

/** The part of `fs.watch` that is used. */
export type WatchDirectory = (
  directory: string,
  options: { persistent: false },
  listener: (event: string, name: string | null) => void,
) => Pick<FSWatcher, "close" | "on">;

type WatchHandle = Pick<FSWatcher, "close">;

/**
 * Watches one directory: "used-up" if the system has no watches left, undefined if the directory cannot be watched now. The listener
 * gets the name of the changed entry, the directory's own name for the directory itself, or null if anything may have changed.
 */
type OpenHandle = (directory: string, listener: (name: string | null) => void) => WatchHandle | "used-up" | undefined;

export interface NativeWatcherOptions {
  readonly watchDirectory?: WatchDirectory;
  /** Takes over the paths for which the system has no watches left. */
  readonly openFallback?: OpenSkillWatcher;
}

interface Wanted {
  way: Way;
  /** Only for a directory without links in its path, and not if the fallback watches it. */
  handle: WatchHandle | undefined;
  /** The directory exists but cannot be watched now. */
  isRefused: boolean;
  /** Whether the parent directory is watched too, so that its hints report a removal or replacement. */
  readonly leans: boolean;
}

/** A path rarely changes while it is resolved; if it keeps changing, the guards report that later. */
const maxLooks = 5;

const usedUp =
  "The system has no file watches left; some skill directories are polled once a second instead. " +
  "On Linux, raise fs.inotify.max_user_watches and fs.inotify.max_user_instances.";

/** Watchers that share one fallback and report only once that it is needed. */
export function nativeWatchers(options: NativeWatcherOptions = {}): OpenSkillWatcher {
  const openFallback = shareWatcher(options.openFallback ?? openPollingWatcher);
  let isTold = false;
  return (hint, degraded) => {
    const tellOnce = (message: string): void => {
      if (!isTold) degraded(message);
      isTold = true;
    };
    return openNativeWatcher(hint, tellOnce, { ...options, openFallback });
  };
}

/** Uses `fs.watch` for one directory at a time, because a recursive watch loses files after an atomic save. */
export function openNativeWatcher(
  hint: Hint,
  degraded: (message: string) => void,
  { watchDirectory = watch, openFallback = openPollingWatcher }: NativeWatcherOptions = {},
): SkillWatcher {
  const wanted = new Map<string, Wanted>();
  const open = handlesOf(watchDirectory);
  const guards = openPathGuards(open, verify);
  let fallback: SkillWatcher | undefined;
  let isClosed = false;
  let isAdopting = false;

  function tell(target: string, name: string | undefined): void {
    if (!isClosed) hint(target, name);
  }
  function useFallback(target: string): void {
    if (fallback === undefined) {
      fallback = openFallback(tell, () => undefined);
      degraded(usedUp);
    }
    fallback.add(target);
  }
  function look(target: string, { leans }: Pick<Wanted, "leans">): Way {
    const above = path.dirname(target);
    if (!leans) return guards.isGuarded(above) ? followLast(target) : followPath(target);
    const way = followLast(target);
    return { ...way, steps: way.steps.slice(1) };
  }
  function isWatched(directory: string): boolean {
    return wanted.get(directory)?.handle !== undefined;
  }

  function arm(target: string): void {
    const entry: Wanted = { way: noWay, handle: undefined, isRefused: false, leans: isWatched(path.dirname(target)) };
    wanted.set(target, entry);
    let way = look(target, entry);
    for (let looks = 0; looks < maxLooks; looks++) {
      release(target, entry);
      entry.way = way;
      const guarded = guards.add(target, way.steps);
      const isOwn = way.isDirectory && way.real === target;
      const handle = isOwn ? openDirectory(target) : undefined;
      entry.isRefused = isOwn && handle === undefined;
      if (handle === "used-up" || guarded === "used-up") useFallback(target);
      if (handle !== "used-up") entry.handle = handle;
      if (guarded === "guarded") return;
      // It may have changed just before the guards were in place.
      way = entry.leans ? look(target, entry) : followPath(target);
      if (isSameWay(way, entry.way)) return;
    }
  }
  function openDirectory(directory: string): WatchHandle | "used-up" | undefined {
    const name = path.basename(directory);
    return open(directory, (changed) => {
      // Events of the directory itself carry its own name.
      if (changed === null || changed === name) verify(directory, true);
      tell(directory, changed ?? undefined);
    });
  }
  function release(target: string, { way, handle }: Wanted): void {
    handle?.close();
    guards.remove(target, way.steps);
    fallback?.remove(target);
  }
  /** Watches a path again if it resolves differently than before, or if its watches may be lost. */
  function verify(target: string, isLost: boolean): void {
    const entry = wanted.get(target);
    if (entry === undefined) return;
    const { way, leans } = entry;
    if (!isLost && isSameWay(way, look(target, entry)) && (!leans || isWatched(path.dirname(target)))) {
      if (entry.isRefused) retry(target, entry);
      return;
    }
    release(target, entry);
    arm(target);
    // Changes while nothing was watched went unnoticed.
    if (way.real !== undefined || wanted.get(target)?.way.real !== undefined) tell(target, undefined);
  }
  function retry(target: string, entry: Wanted): void {
    const handle = openDirectory(target);
    if (handle === undefined) return;
    if (handle === "used-up") useFallback(target);
    else entry.handle = handle;
    entry.isRefused = false;
    tell(target, undefined);
  }
  /** Gives paths that relied on a directory that is no longer watched guards of their own. */
  function adopt(): void {
    isAdopting = false;
    for (const [target, { leans }] of [...wanted]) {
      if (leans && !isWatched(path.dirname(target))) verify(target, false);
    }
  }

  return {
    add(target) {
      if (isClosed) return;
      if (wanted.has(target)) verify(target, false);
      else arm(target);
    },
    remove(target) {
      const entry = wanted.get(target);
      if (entry === undefined) return;
      release(target, entry);
      wanted.delete(target);
      if (isAdopting || entry.handle === undefined) return;
      isAdopting = true;
      queueMicrotask(adopt);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      for (const { handle } of wanted.values()) handle?.close();
      wanted.clear();
      guards.close();
      await fallback?.close();
    },
  };
}

function handlesOf(watchDirectory: WatchDirectory): OpenHandle {
  return (directory, listener) => {
    try {
      const handle = watchDirectory(directory, { persistent: false }, (_event, name) => listener(name));
      handle.on("error", () => listener(null));
      return handle;
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      return code === "ENOSPC" || code === "EMFILE" || code === "ENFILE" ? "used-up" : undefined;
    }
  };
}

/** Watches all directories on the way to some paths, each once, for changes of the names on which those paths depend. */
interface PathGuards {
  /** Whether a directory and all above it are watched, so that a replacement of it would be noticed. */
  isGuarded(directory: string): boolean;
  /** "opened" if directories were not watched before. Must be undone by `remove` even if watches are used up. */
  add(target: string, steps: readonly Step[]): "guarded" | "opened" | "used-up";
  /** Takes the steps passed to `add`. */
  remove(target: string, steps: readonly Step[]): void;
  close(): void;
}

interface Guard {
  /** Undefined where the directory may not be watched; a hint of its parent leads to another attempt. */
  readonly handle: WatchHandle | undefined;
  readonly identity: string | undefined;
  /** Paths by the name in this directory on which they depend. */
  readonly names: Map<string, Set<string>>;
  /** Names of watched directories in this one. */
  readonly below: Set<string>;
}

/**
 * `onStep` is called for each path whose resolution may have changed. A directory that was replaced is released with all below it;
 * the paths through it must be added again, as `isLost` says.
 */
function openPathGuards(open: OpenHandle, onStep: (target: string, isLost: boolean) => void): PathGuards {
  const guards = new Map<string, Guard>();

  /** From the top down, so that no change to a watched directory is missed. */
  function openGuard(directory: string): Guard | "used-up" {
    const parent = path.dirname(directory);
    const above = parent === directory || isWholeDisk(parent) ? undefined : (guards.get(parent) ?? openGuard(parent));
    if (above === "used-up") return above;
    const identity = identityOf(directory);
    const handle = open(directory, (name) => noticed(directory, name));
    if (handle === "used-up") {
      closeIfIdle(parent);
      return handle;
    }
    above?.below.add(path.basename(directory));
    const guard: Guard = { handle, identity, names: new Map(), below: new Set() };
    guards.set(directory, guard);
    return guard;
  }
  function noticed(directory: string, name: string | null): void {
    // Events of the directory itself carry its own name.
    if (name === null || name === path.basename(directory)) lose(directory);
    const guard = guards.get(directory);
    if (guard === undefined || name === null) return;
    for (const target of [...(guard.names.get(name) ?? [])]) onStep(target, false);
    if (!guard.below.has(name)) return;
    const child = joinPath(directory, name);
    const { handle, identity } = guards.get(child) ?? {};
    if (handle === undefined || identity !== identityOf(child)) lose(child);
  }
  function lose(directory: string): void {
    const lost = new Set<string>();
    release(directory, lost);
    closeIfIdle(path.dirname(directory));
    for (const target of lost) onStep(target, true);
  }
  /** Closes a directory's guard and all below it, and adds the paths through them to `lost`. */
  function release(directory: string, lost: Set<string>): void {
    const guard = guards.get(directory);
    if (guard === undefined) return;
    drop(directory, guard);
    for (const targets of guard.names.values()) for (const target of targets) lost.add(target);
    for (const name of guard.below) release(joinPath(directory, name), lost);
  }
  function drop(directory: string, guard: Guard): void {
    guard.handle?.close();
    guards.delete(directory);
    guards.get(path.dirname(directory))?.below.delete(path.basename(directory));
  }
  function closeIfIdle(directory: string): void {
    const guard = guards.get(directory);
    if (guard === undefined || guard.names.size > 0 || guard.below.size > 0) return;
    drop(directory, guard);
    closeIfIdle(path.dirname(directory));
  }

  return {
    isGuarded: (directory) => guards.get(directory)?.handle !== undefined,
    add(target, steps) {
      let result: ReturnType<PathGuards["add"]> = "guarded";
      for (const { directory, name } of steps) {
        if (isWholeDisk(directory)) continue;
        let guard: Guard | "used-up" | undefined = guards.get(directory);
        if (guard === undefined) {
          guard = openGuard(directory);
          result = "opened";
        }
        if (guard === "used-up") return guard;
        const targets = guard.names.get(name) ?? new Set();
        guard.names.set(name, targets.add(target));
      }
      return result;
    },
    remove(target, steps) {
      for (const { directory, name } of steps) {
        const names = guards.get(directory)?.names;
        const targets = names?.get(name);
        targets?.delete(target);
        if (targets?.size === 0) names?.delete(name);
        closeIfIdle(directory);
      }
    },
    close() {
      for (const { handle } of guards.values()) handle?.close();
      guards.clear();
    },
  };
}

/** On macOS a watch receives all events below its directory and filters them, and only the system writes to `/`. */
function isWholeDisk(directory: string): boolean {
  return process.platform === "darwin" && directory === path.dirname(directory);
}
