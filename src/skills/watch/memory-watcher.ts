import type { Hint, OpenSkillWatcher } from "./skill-watcher.ts";

/** A watcher whose events are made by hand, and which shows what is watched. */
export interface MemoryWatcher {
  readonly open: OpenSkillWatcher;
  /** In the order in which they were added. */
  readonly watched: ReadonlySet<string>;
  readonly isClosed: boolean;
  /** Something happened: hints where the directory is watched; a watched directory that is itself the thing is told too. */
  touch(directory: string, name: string): void;
  /** The system's watches run out. */
  degrade(message: string): void;
}

/** `resolve` tells where a path leads; without it, there are no links. */
export function memoryWatcher(resolve: (target: string) => string | undefined = (target) => target): MemoryWatcher {
  const watched = new Set<string>();
  const ends = new Map<string, string | undefined>();
  let isClosed = false;
  let hint: Hint = () => undefined;
  let degraded: (message: string) => void = () => undefined;
  return {
    watched,
    get isClosed() {
      return isClosed;
    },
    open(openedHint, openedDegraded) {
      hint = openedHint;
      degraded = openedDegraded;
      return {
        add(target) {
          watched.add(target);
          ends.set(target, resolve(target));
        },
        remove: (directory) => void watched.delete(directory),
        close() {
          isClosed = true;
          watched.clear();
          return Promise.resolve();
        },
      };
    },
    touch(directory, name) {
      const target = directory === "/" ? `/${name}` : `${directory}/${name}`;
      if (watched.has(directory)) hint(directory, name);
      for (const below of watched) {
        const end = resolve(below);
        const leadsElsewhere = end !== ends.get(below);
        ends.set(below, end);
        if (leadsElsewhere || below === target || below.startsWith(`${target}/`)) hint(below, undefined);
      }
    },
    degrade: (message) => degraded(message),
  };
}
