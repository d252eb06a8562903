import { type FSWatcher, watch } from "node:fs";
import type { Clock } from "../../../base/clock.ts";

/** Changes that come together are told once. */
const settlingMs = 150;

/**
 * Calls back after something changed in directories, which need not exist. What cannot be watched is not, because those who are told can
 * also look by themselves. The returned function ends it.
 */
export function watchDirectories(directories: readonly string[], clock: Clock, changed: () => void): () => void {
  let stopTimer: (() => void) | undefined;
  const noticed = (): void => {
    stopTimer ??= clock.after(settlingMs, () => {
      stopTimer = undefined;
      changed();
    });
  };
  const watchers = directories.flatMap((directory) => watchOne(directory, noticed) ?? []);
  return () => {
    stopTimer?.();
    for (const watcher of watchers) watcher.close();
  };
}

function watchOne(directory: string, noticed: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(directory, { persistent: false }, noticed);
    watcher.on("error", () => {
      watcher.close();
    });
    return watcher;
  } catch {
    return undefined; // It does not exist yet, or the system has no watches left.
  }
}
