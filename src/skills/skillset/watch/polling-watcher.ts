import path from "node:path";
import type { FSWatcher, watch as watchPaths } from "chokidar";
import { type Clock, systemClock } from "../../../base/clock.ts";
import { type Way, fileIdentityOf, followPath, isSameEnd } from "../../files/follow-path.ts";
import type { Hint, OpenSkillWatcher, SkillWatcher } from "../watch.ts";

/** Milliseconds between two polls. */
const usualIntervalMs = 1000;

/** Polls every file of every directory once a second: for systems without watches left, and for network disks. */
export const openPollingWatcher: OpenSkillWatcher = (hint) => openPolling(hint, {});

/** Opens a watcher with another interval, for tests. */
export function openPolling(
  hint: Hint,
  { intervalMs = usualIntervalMs, clock = systemClock }: { intervalMs?: number; clock?: Clock },
): SkillWatcher {
  /** The resolution of each path at the last poll. */
  const wanted = new Map<string, Way>();
  /** One watcher per directory: chokidar would ignore everything below a directory that it no longer watches. */
  const polled = new Map<string, FSWatcher>();
  const opened = loadChokidar();
  let watch: typeof watchPaths | undefined;
  let isClosed = false;
  let cancel = clock.after(intervalMs, findReplaced);

  async function loadChokidar(): Promise<void> {
    ({ watch } = await import("chokidar"));
    for (const [target, way] of wanted) poll(target, way);
  }
  function poll(target: string, way: Way): void {
    if (watch === undefined || !way.isDirectory || way.real !== target) return;
    const chokidar = watch(target, {
      usePolling: true,
      interval: intervalMs,
      binaryInterval: intervalMs,
      depth: 0,
      persistent: false,
    });
    chokidar.on("all", (_event, changed) => notify(changed));
    // The other events of chokidar miss a save that follows another within a second.
    chokidar.on("raw", (_event, changed) => notify(changed));
    // Errors are reported when the directory is read.
    chokidar.on("error", () => undefined);
    polled.set(target, chokidar);
  }
  function notify(target: string): void {
    if (isClosed) return;
    const name = path.basename(target);
    if (wanted.has(target)) hint(target, name);
    if (wanted.has(path.dirname(target))) hint(path.dirname(target), name);
  }
  function start(target: string): void {
    const way = followPath(target);
    wanted.set(target, way);
    poll(target, way);
  }
  function stop(target: string): void {
    wanted.delete(target);
    void polled.get(target)?.close();
    polled.delete(target);
  }
  /** Detects what chokidar does not: a directory that is replaced or created later, and changed links above it. */
  function findReplaced(): void {
    for (const [target, way] of [...wanted]) {
      if (isUnchanged(target, way)) continue;
      stop(target);
      start(target);
      hint(target, undefined);
    }
    cancel = clock.after(intervalMs, findReplaced);
  }

  return {
    add(target) {
      if (isClosed) return;
      const way = wanted.get(target);
      if (way !== undefined) {
        if (isUnchanged(target, way)) return;
        stop(target);
      }
      start(target);
    },
    remove: stop,
    async close() {
      isClosed = true;
      cancel();
      wanted.clear();
      await opened;
      await Promise.all(Array.from(polled.values(), (chokidar) => chokidar.close()));
    },
  };
}

/** Whether a path resolves as before. One stat if there are no links, because there may be thousands of directories. */
function isUnchanged(target: string, way: Way): boolean {
  return way.real === target ? way.identity === fileIdentityOf(target) : isSameEnd(way, followPath(target));
}
