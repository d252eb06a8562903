import { type FSWatcher, watch } from "node:fs";
import type { Clock } from "../../../base/clock.ts";

/** Changes within this time are reported once. */
const debounceMs = 150;

/**
 * Calls back after something changed in directories, which need not exist. Directories that cannot be watched are skipped, because pages can also
 * be reloaded. The returned function stops watching.
 */
export function watchDirectories(directories: readonly string[], clock: Clock, changed: () => void): () => void {
  let stopTimer: (() => void) | undefined;
  const noticed = (): void => {
    stopTimer ??= clock.after(debounceMs, () => {
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
