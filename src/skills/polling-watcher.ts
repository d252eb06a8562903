import path from "node:path";
import type { FSWatcher } from "chokidar";
import { systemClock } from "../clock.ts";
import type { Clock } from "../clock.ts";
import { identityOf } from "./directory-identity.ts";
import type { Hint, OpenSkillWatcher, SkillWatcher } from "./skill-watcher.ts";

/** Milliseconds between two looks. */
const usualInterval = 1000;

/** Looks at every file of every directory once a second: for systems whose watches are used up, and for network disks. */
export const openPollingWatcher: OpenSkillWatcher = (hint) => openPolling(hint, {});

/** For tests: the same at another pace. */
export function openPolling(
  hint: Hint,
  { interval = usualInterval, clock = systemClock }: { interval?: number; clock?: Clock },
): SkillWatcher {
  /** What tells a directory from a later one of the same name; undefined while there is none. */
  const wanted = new Map<string, string | undefined>();
  const opened = openChokidar();
  let chokidar: FSWatcher | undefined;
  let isClosed = false;
  let cancel = clock.after(interval, lookForReplaced);

  async function openChokidar(): Promise<void> {
    const { watch } = await import("chokidar");
    if (isClosed) return;
    chokidar = watch([], { usePolling: true, interval, binaryInterval: interval, depth: 0, persistent: false });
    chokidar.on("all", (_event, target) => tell(target));
    // Its own events leave some saves out, where one follows the other within a second.
    chokidar.on("raw", (_event, target) => tell(target));
    // What cannot be polled is reported when it is read.
    chokidar.on("error", () => undefined);
    for (const [directory, identity] of wanted) if (identity !== undefined) chokidar.add(directory);
  }
  function tell(target: string): void {
    if (isClosed) return;
    const name = path.basename(target);
    if (wanted.has(target)) hint(target, name);
    if (wanted.has(path.dirname(target))) hint(path.dirname(target), name);
  }
  function start(directory: string): void {
    const identity = identityOf(directory);
    wanted.set(directory, identity);
    if (identity !== undefined) chokidar?.add(directory);
  }
  function stop(directory: string): void {
    wanted.delete(directory);
    chokidar?.unwatch(directory);
  }
  /** chokidar does not follow a directory that goes and comes back, nor one that is not there yet. */
  function lookForReplaced(): void {
    for (const [directory, identity] of [...wanted]) {
      if (identityOf(directory) === identity) continue;
      stop(directory);
      start(directory);
      hint(directory, undefined);
    }
    cancel = clock.after(interval, lookForReplaced);
  }

  return {
    add(directory) {
      if (isClosed) return;
      if (wanted.has(directory)) {
        if (wanted.get(directory) === identityOf(directory)) return;
        stop(directory);
      }
      start(directory);
    },
    remove: stop,
    async close() {
      isClosed = true;
      cancel();
      wanted.clear();
      await opened;
      await chokidar?.close();
    },
  };
}
