import path from "node:path";
import type { Step } from "./follow-path.ts";
import type { OpenHandle, WatchHandle } from "./watch-handle.ts";

/** Watches the directories through which paths are reached, each once, for the names that matter there. */
export interface PathGuards {
  /** False when the system has no watches left; what was added then still has to be removed. */
  add(target: string, steps: readonly Step[]): boolean;
  /** Takes the steps with which the path was added. */
  remove(target: string, steps: readonly Step[]): void;
  close(): void;
}

interface Guard {
  readonly handle: WatchHandle;
  /** Guarded paths by the name on which they depend here. */
  readonly names: Map<string, Set<string>>;
}

/**
 * `onStep` is told of each path whose way may have changed. A directory that may be another one by now is let go, and the
 * paths that lead through it have to be added anew: `isLost` says so.
 */
export function openPathGuards(open: OpenHandle, onStep: (target: string, isLost: boolean) => void): PathGuards {
  const guards = new Map<string, Guard>();

  function openGuard(directory: string): Guard | "used-up" | undefined {
    const names: Guard["names"] = new Map();
    const handle = open(directory, (changed) => {
      // Events of the directory itself carry its own name.
      const isItself = changed === null || changed === path.basename(directory);
      const targets = new Set(isItself ? [...names.values()].flatMap((set) => [...set]) : names.get(changed));
      if (isItself) drop(directory);
      for (const target of targets) onStep(target, isItself);
    });
    if (handle === undefined || handle === "used-up") return handle;
    const guard = { handle, names };
    guards.set(directory, guard);
    return guard;
  }
  function drop(directory: string): void {
    guards.get(directory)?.handle.close();
    guards.delete(directory);
  }

  return {
    add(target, steps) {
      for (const { directory, name } of steps) {
        if (isWholeDisk(directory)) continue;
        const guard = guards.get(directory) ?? openGuard(directory);
        if (guard === "used-up") return false;
        const targets = guard?.names.get(name) ?? new Set();
        guard?.names.set(name, targets.add(target));
      }
      return true;
    },
    remove(target, steps) {
      for (const { directory, name } of steps) {
        const names = guards.get(directory)?.names;
        const targets = names?.get(name);
        targets?.delete(target);
        if (targets?.size === 0) names?.delete(name);
        if (names?.size === 0) drop(directory);
      }
    },
    close() {
      for (const { handle } of guards.values()) handle.close();
      guards.clear();
    },
  };
}

/** On macOS a watch gets every event below its directory before it picks its own, and only the system writes to `/`. */
function isWholeDisk(directory: string): boolean {
  return process.platform === "darwin" && directory === path.dirname(directory);
}
