import path from "node:path";
import { identityOf } from "../files/follow-path.ts";
import type { Step } from "../files/follow-path.ts";
import { joinPath } from "../files/skill-files.ts";
import type { OpenHandle, WatchHandle } from "./watch-handle.ts";

/** Watches the directories through which paths are reached, each once and all the way up, for the names that matter there. */
export interface PathGuards {
  /** Whether a directory is watched and so are those above: it is what it was when something was added in it, or we are told. */
  isGuarded(directory: string): boolean;
  /** "opened" when directories were not guarded before; what was added has to be removed even where watches are used up. */
  add(target: string, steps: readonly Step[]): "guarded" | "opened" | "used-up";
  /** Takes the steps with which the path was added. */
  remove(target: string, steps: readonly Step[]): void;
  close(): void;
}

interface Guard {
  /** Undefined where the directory may not be watched: the one above tells when that may have changed. */
  readonly handle: WatchHandle | undefined;
  readonly identity: string | undefined;
  /** Guarded paths by the name on which they depend here. */
  readonly names: Map<string, Set<string>>;
  /** Names of guarded directories in this one. */
  readonly below: Set<string>;
}

/**
 * `onStep` is told of each path whose way may have changed. A directory that is another one by now is let go, with all below
 * it, and the paths that lead through it have to be added anew: `isLost` says so.
 */
export function openPathGuards(open: OpenHandle, onStep: (target: string, isLost: boolean) => void): PathGuards {
  const guards = new Map<string, Guard>();

  /** From the top down, so that whatever happens to a directory once it is watched is told. */
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
    letGo(directory, lost);
    closeIfIdle(path.dirname(directory));
    for (const target of lost) onStep(target, true);
  }
  /** Closes a directory's guard and all below it, and adds the paths that led through them to `lost`. */
  function letGo(directory: string, lost: Set<string>): void {
    const guard = guards.get(directory);
    if (guard === undefined) return;
    drop(directory, guard);
    for (const targets of guard.names.values()) for (const target of targets) lost.add(target);
    for (const name of guard.below) letGo(joinPath(directory, name), lost);
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

/** On macOS a watch gets every event below its directory before it picks its own, and only the system writes to `/`. */
function isWholeDisk(directory: string): boolean {
  return process.platform === "darwin" && directory === path.dirname(directory);
}
