import type { Hint, OpenSkillWatcher } from "../../../../src/skills/skillset/watch.ts";

/** A watcher with manual events that exposes what is watched. */
export interface MemoryWatcher {
  readonly open: OpenSkillWatcher;
  /** In the order in which they were added. */
  readonly watched: ReadonlySet<string>;
  readonly isClosed: boolean;
  /** Simulates a change: hints for a watched directory, and for a watched path that is the entry itself. */
  touch(directory: string, name: string): void;
  /** Simulates that watches run out. */
  degrade(message: string): void;
}

/** `resolve` resolves links; default: there are none. */
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
