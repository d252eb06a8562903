import type { FSWatcher } from "node:fs";
import path from "node:path";
import { joinPath } from "../../../base/paths/at-real-path.ts";
import { type PathStep, fileIdentityOf } from "../../files/follow-path.ts";

export type WatchHandle = Pick<FSWatcher, "close">;

/**
 * Watches one directory. Returns "used-up" if the system has no watches left, undefined if the directory cannot be watched now. The
 * listener gets the name of the changed entry, the directory's own name for the directory itself, or null if anything may have changed.
 */
export type OpenHandle = (
  directory: string,
  listener: (name: string | null) => void,
) => WatchHandle | "used-up" | undefined;

/** Watches all directories on the way to some paths, each once, for changes of the names on which those paths depend. */
interface PathGuards {
  /** Whether a directory and all above it are watched, so that a replacement of it would be noticed. */
  isGuarded(directory: string): boolean;
  /** Returns "opened" if directories were not watched before. Must be undone by `remove`, even after "used-up". */
  add(target: string, steps: readonly PathStep[]): "guarded" | "opened" | "used-up";
  /** Removes the steps that were passed to `add`. */
  remove(target: string, steps: readonly PathStep[]): void;
  close(): void;
}

interface Guard {
  /** Undefined if the directory may not be watched; a hint of its parent leads to another attempt. */
  readonly handle: WatchHandle | undefined;
  readonly identity: string | undefined;
  /** The paths that depend on a name in this directory, by that name. */
  readonly names: Map<string, Set<string>>;
  /** The names of watched directories in this one. */
  readonly below: Set<string>;
}

/**
 * Opens guards. `onStep` is called for each path whose resolution may have changed. A replaced directory is released with all directories
 * below it; the paths through it must be added again, as `isLost` says.
 */
export function openPathGuards(open: OpenHandle, onStep: (target: string, isLost: boolean) => void): PathGuards {
  const guards = new Map<string, Guard>();

  /** Opens guards from the top down, so that no change to a watched directory is missed. */
  function openGuard(directory: string): Guard | "used-up" {
    const parent = path.dirname(directory);
    const above = parent === directory || isWholeDisk(parent) ? undefined : (guards.get(parent) ?? openGuard(parent));
    if (above === "used-up") return above;
    const identity = fileIdentityOf(directory);
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
    if (handle === undefined || identity !== fileIdentityOf(child)) lose(child);
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

/** Whether a directory is the whole disk on macOS. Its watch would receive and filter all events, and only the system writes to `/`. */
function isWholeDisk(directory: string): boolean {
  return process.platform === "darwin" && directory === path.dirname(directory);
}
