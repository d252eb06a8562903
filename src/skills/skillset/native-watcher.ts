import { type FSWatcher, watch } from "node:fs";
import path from "node:path";
import { systemCode } from "../../base/failures/system-error.ts";
import { type Way, followLast, followPath, isSameWay, noWay } from "../files/follow-path.ts";
import { type OpenHandle, type WatchHandle, openPathGuards } from "./watch/path-guards.ts";
import { openPollingWatcher } from "./watch/polling-watcher.ts";
import { type Hint, type OpenSkillWatcher, type SkillWatcher, shareWatcher } from "./watch.ts";

/** The signature of `fs.watch`, as far as it is used. */
export type WatchDirectory = (
  directory: string,
  options: { persistent: false },
  listener: (event: string, name: string | null) => void,
) => Pick<FSWatcher, "close" | "on">;

export interface NativeWatcherOptions {
  readonly watchDirectory?: WatchDirectory;
  /** Watches the paths for which the system has no watches left. */
  readonly openFallback?: OpenSkillWatcher;
}

interface Wanted {
  way: Way;
  /** The watch; only for a directory without links in its path, and not if the fallback watches it. */
  handle: WatchHandle | undefined;
  /** Whether the directory exists but cannot be watched now. */
  isRefused: boolean;
  /** Whether the parent directory is watched too, so that its hints report a removal or replacement. */
  readonly isCovered: boolean;
}

/** The maximum number of attempts. A path rarely changes while it is resolved; if it still does, the guards report that later. */
const maxAttempts = 5;

const usedUp =
  "The system has no file watches left; some skill directories are polled once a second instead. " +
  "On Linux, raise fs.inotify.max_user_watches and fs.inotify.max_user_instances.";

/** Returns a function that opens watchers that share one fallback. Only the first use of the fallback is reported. */
export function nativeWatchers(options: NativeWatcherOptions = {}): OpenSkillWatcher {
  const openFallback = shareWatcher(options.openFallback ?? openPollingWatcher);
  let isReported = false;
  return (hint, degraded) => {
    const reportOnce = (message: string): void => {
      if (!isReported) degraded(message);
      isReported = true;
    };
    return openNativeWatcher(hint, reportOnce, { ...options, openFallback });
  };
}

/** Opens a watcher that uses `fs.watch` for one directory at a time, because a recursive watch loses files after an atomic save. */
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

  function notify(target: string, name: string | undefined): void {
    if (!isClosed) hint(target, name);
  }
  function useFallback(target: string): void {
    if (fallback === undefined) {
      fallback = openFallback(notify, () => undefined);
      degraded(usedUp);
    }
    fallback.add(target);
  }
  function resolve(target: string, { isCovered }: Pick<Wanted, "isCovered">): Way {
    const above = path.dirname(target);
    if (!isCovered) return guards.isGuarded(above) ? followLast(target) : followPath(target);
    const way = followLast(target);
    return { ...way, steps: way.steps.slice(1) };
  }
  function isWatched(directory: string): boolean {
    return wanted.get(directory)?.handle !== undefined;
  }

  function arm(target: string): void {
    const entry: Wanted = {
      way: noWay,
      handle: undefined,
      isRefused: false,
      isCovered: isWatched(path.dirname(target)),
    };
    wanted.set(target, entry);
    let way = resolve(target, entry);
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      release(target, entry);
      entry.way = way;
      const guarded = guards.add(target, way.steps);
      const isOwn = way.isDirectory && way.real === target;
      const handle = isOwn ? openDirectory(target) : undefined;
      entry.isRefused = isOwn && handle === undefined;
      if (handle === "used-up" || guarded === "used-up") useFallback(target);
      if (handle !== "used-up") entry.handle = handle;
      if (guarded === "guarded") return;
      // The path may have changed just before the guards were set.
      way = entry.isCovered ? resolve(target, entry) : followPath(target);
      if (isSameWay(way, entry.way)) return;
    }
  }
  function openDirectory(directory: string): WatchHandle | "used-up" | undefined {
    const name = path.basename(directory);
    return open(directory, (changed) => {
      // Events of the directory itself carry its own name.
      if (changed === null || changed === name) verify(directory, true);
      notify(directory, changed ?? undefined);
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
    const { way, isCovered } = entry;
    if (!isLost && isSameWay(way, resolve(target, entry)) && (!isCovered || isWatched(path.dirname(target)))) {
      if (entry.isRefused) retry(target, entry);
      return;
    }
    release(target, entry);
    arm(target);
    // Changes during the time without watches went unnoticed.
    if (way.real !== undefined || wanted.get(target)?.way.real !== undefined) notify(target, undefined);
  }
  function retry(target: string, entry: Wanted): void {
    const handle = openDirectory(target);
    if (handle === undefined) return;
    if (handle === "used-up") useFallback(target);
    else entry.handle = handle;
    entry.isRefused = false;
    notify(target, undefined);
  }
  /** Gives guards of their own to paths that relied on a directory that is no longer watched. */
  function adopt(): void {
    isAdopting = false;
    for (const [target, { isCovered }] of [...wanted]) {
      if (isCovered && !isWatched(path.dirname(target))) verify(target, false);
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
      return ["ENOSPC", "EMFILE", "ENFILE"].includes(systemCode(error)) ? "used-up" : undefined;
    }
  };
}
