import { watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import path from "node:path";
import { identityOf } from "./directory-identity.ts";
import { openPollingWatcher } from "./polling-watcher.ts";
import type { Hint, OpenSkillWatcher, SkillWatcher } from "./skill-watcher.ts";

/** The part of `fs.watch` that is used. */
export type WatchDirectory = (
  directory: string,
  options: { persistent: false },
  listener: (event: string, name: string | null) => void,
) => Pick<FSWatcher, "close" | "on">;

export interface NativeWatcherOptions {
  readonly watchDirectory?: WatchDirectory;
  /** Takes the directories for which the system has no watch left. */
  readonly openFallback?: OpenSkillWatcher;
}

/** A directory to watch. Without a handle it is missing, or left to the fallback. */
interface Wanted {
  handle: Pick<FSWatcher, "close"> | undefined;
  /** What tells this directory from a later one of the same name. */
  identity: string | undefined;
}

/** Watches a directory above wanted ones, to notice that those come, go or are replaced. */
interface Guard {
  readonly handle: Pick<FSWatcher, "close">;
  readonly directories: Set<string>;
}

/** Watches through `fs.watch`, one directory at a time: a recursive watch loses files after an atomic save. */
export const openNativeWatcher: OpenSkillWatcher = (hint, degraded) => openWatcher(hint, degraded, {});

/** For tests: the same with parts of the system replaced. */
export function openWatcher(
  hint: Hint,
  degraded: (message: string) => void,
  { watchDirectory = watch, openFallback = openPollingWatcher }: NativeWatcherOptions,
): SkillWatcher {
  const wanted = new Map<string, Wanted>();
  const guards = new Map<string, Guard>();
  const guardOf = new Map<string, string>();
  let fallback: SkillWatcher | undefined;
  let isClosed = false;

  /** Undefined when the directory cannot be watched now. */
  function open(directory: string, listener: (name: string | null) => void): Guard["handle"] | "used-up" | undefined {
    try {
      const handle = watchDirectory(directory, { persistent: false }, (_event, name) => {
        if (!isClosed) listener(name);
      });
      handle.on("error", () => {
        if (!isClosed) listener(null);
      });
      return handle;
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      return code === "ENOSPC" || code === "EMFILE" || code === "ENFILE" ? "used-up" : undefined;
    }
  }
  function useFallback(directory: string): void {
    if (fallback === undefined) {
      fallback = openFallback(hint, () => undefined);
      degraded(usedUp);
    }
    fallback.add(directory);
  }

  function arm(directory: string): void {
    const identity = identityOf(directory);
    const entry: Wanted = { handle: undefined, identity };
    wanted.set(directory, entry);
    if (identity !== undefined) {
      const name = path.basename(directory);
      const handle = open(directory, (changed) => {
        // Events of the directory itself carry its own name.
        if (changed === null || changed === name) verify(directory);
        hint(directory, changed ?? undefined);
      });
      if (handle === "used-up") useFallback(directory);
      else entry.handle = handle;
    }
    setGuard(directory);
  }
  function disarm(directory: string): void {
    wanted.get(directory)?.handle?.close();
    wanted.delete(directory);
    removeGuard(directory);
    fallback?.remove(directory);
  }
  /** Watches a directory of that name anew if it has come, gone or been replaced. */
  function verify(directory: string): void {
    const entry = wanted.get(directory);
    if (entry === undefined) return;
    if (entry.identity === identityOf(directory)) {
      if (entry.identity === undefined) setGuard(directory);
      return;
    }
    disarm(directory);
    arm(directory);
    hint(directory, undefined);
  }

  /** A directory below another wanted one is guarded by that one's hints. */
  function setGuard(directory: string): void {
    const above = path.dirname(directory);
    if (wanted.get(above)?.handle !== undefined) return;
    for (let guard = above; ; guard = path.dirname(guard)) {
      if (guardOf.get(directory) === guard && identityOf(guard) !== undefined) return;
      if (addToGuard(guard, directory) || guard === path.dirname(guard)) break;
    }
    // It may have come into being just before the guard stood.
    if (wanted.get(directory)?.identity === undefined && identityOf(directory) !== undefined) verify(directory);
  }
  function addToGuard(guard: string, directory: string): boolean {
    const existing = guards.get(guard);
    const isThere = identityOf(guard) !== undefined;
    if (existing !== undefined && isThere) {
      removeGuard(directory);
      existing.directories.add(directory);
      guardOf.set(directory, guard);
      return true;
    }
    if (!isThere) return false;
    const directories = new Set([directory]);
    const handle = open(guard, (changed) => {
      const isItself = changed === null || changed === path.basename(guard);
      const concerned = [...directories].filter((below) => isItself || firstSegment(guard, below) === changed);
      if (isItself && concerned.length > 0) dropGuard(guard);
      for (const below of concerned) {
        verify(below);
        if (!guardOf.has(below) && wanted.has(below)) setGuard(below);
      }
    });
    if (handle === "used-up") {
      useFallback(directory);
      return true;
    }
    if (handle === undefined) return false;
    removeGuard(directory);
    guards.set(guard, { handle, directories });
    guardOf.set(directory, guard);
    return true;
  }
  function removeGuard(directory: string): void {
    const guard = guardOf.get(directory);
    if (guard === undefined) return;
    guardOf.delete(directory);
    const directories = guards.get(guard)?.directories;
    directories?.delete(directory);
    if (directories?.size === 0) dropGuard(guard);
  }
  function dropGuard(guard: string): void {
    const entry = guards.get(guard);
    if (entry === undefined) return;
    entry.handle.close();
    guards.delete(guard);
    for (const directory of entry.directories) guardOf.delete(directory);
  }

  return {
    add(directory) {
      if (isClosed) return;
      if (wanted.has(directory)) verify(directory);
      else arm(directory);
    },
    remove(directory) {
      disarm(directory);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      for (const { handle } of [...wanted.values(), ...guards.values()]) handle?.close();
      wanted.clear();
      guards.clear();
      guardOf.clear();
      await fallback?.close();
    },
  };
}

const usedUp =
  "The system has no file watches left, so some directories of skills are looked at every second instead. " +
  "On Linux, raise fs.inotify.max_user_watches and fs.inotify.max_user_instances.";

/** The name just below `above` on the way to `below`. */
function firstSegment(above: string, below: string): string {
  return path.relative(above, below).split(path.sep, 1)[0] ?? "";
}
