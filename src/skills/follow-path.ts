import { lstatSync, readlinkSync } from "node:fs";
import type { Stats } from "node:fs";
import path from "node:path";
import { joinPath } from "./real-paths.ts";

/** A place where the way to a path can change: `name` in `directory`, which is a real path. */
export interface Step {
  readonly directory: string;
  readonly name: string;
}

/** How a path is reached, component by component and link by link. */
export interface Way {
  /** Ends with the first name that is not there. */
  readonly steps: readonly Step[];
  /** Where it leads; undefined where that is nowhere. */
  readonly real: string | undefined;
  readonly isDirectory: boolean;
  /** What tells the thing from a later one of the same path. */
  readonly identity: string | undefined;
}

/** As many as Linux follows. */
const maxLinks = 40;
const noSteps: readonly Step[] = Object.freeze([]);
export const noWay: Way = Object.freeze({ steps: noSteps, real: undefined, isDirectory: false, identity: undefined });

/** Follows an absolute path. Never throws: what may not be looked at is as good as missing. */
export function followPath(target: string): Way {
  const { root } = path.parse(target);
  return follow({ target, real: root, rest: segments(target.slice(root.length)), steps: [] });
}

/** The same without the steps down to the directory above, which is known to be a real path, and the one in it. */
export function followLast(target: string): Way {
  const found = statsOf(target);
  if (found === undefined) return noWay;
  if (!found.isSymbolicLink()) return wayOf(noSteps, target, found);
  const way = follow({ target, real: path.dirname(target), rest: [path.basename(target)], steps: [] });
  return { ...way, steps: way.steps.slice(1) };
}

/** What tells something from a later one of the same path: an inode alone is given away again at once. */
export function identityOf(target: string): string | undefined {
  const stats = statsOf(target);
  return stats && identify(stats);
}

export function isSameWay(a: Way, b: Way): boolean {
  return isSameEnd(a, b) && a.steps.length === b.steps.length && a.steps.every((step, at) => isSameStep(step, b, at));
}

/** Whether two ways lead to the same thing in the same place. */
export function isSameEnd(a: Way, b: Way): boolean {
  return a.identity === b.identity && a.real === b.real;
}

function isSameStep({ directory, name }: Step, { steps }: Way, at: number): boolean {
  return directory === steps[at]?.directory && name === steps[at].name;
}

interface Journey {
  readonly target: string;
  readonly steps: Step[];
  real: string;
  /** The last one is next. */
  readonly rest: string[];
}

function follow(journey: Journey): Way {
  const { target, steps, rest } = journey;
  let { real } = journey;
  let stats: Stats | undefined;
  let links = 0;
  for (let name = rest.pop(); name !== undefined; name = rest.pop()) {
    if (name === "..") {
      real = path.dirname(real);
      stats = undefined;
      continue;
    }
    const next = joinPath(real, name);
    steps.push({ directory: real, name });
    stats = statsOf(next);
    if (stats === undefined) return { ...noWay, steps };
    if (!stats.isSymbolicLink()) {
      real = next;
      continue;
    }
    const to = ++links <= maxLinks ? linkText(next) : undefined;
    if (to === undefined) return { ...noWay, steps };
    const { root } = path.parse(to);
    if (root !== "") real = path.resolve(real, root);
    rest.push(...segments(to.slice(root.length)));
  }
  stats ??= statsOf(real);
  return stats === undefined ? { ...noWay, steps } : wayOf(steps, real === target ? target : real, stats);
}

function wayOf(steps: readonly Step[], real: string, stats: Stats): Way {
  return { steps, real, isDirectory: stats.isDirectory(), identity: identify(stats) };
}

function identify({ dev, ino, birthtimeMs }: Stats): string {
  return `${dev}:${ino}:${birthtimeMs}`;
}

function statsOf(target: string): Stats | undefined {
  try {
    return lstatSync(target, { throwIfNoEntry: false });
  } catch {
    // A loop, a name that cannot be asked for, or a directory that may not be entered.
    return undefined;
  }
}

function linkText(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    // It has just become something else, which the next look sees.
    return undefined;
  }
}

/** Last one first. */
function segments(relative: string): string[] {
  const names = relative.split(path.sep === "/" ? "/" : /[\\/]/);
  return names.filter((name) => name !== "" && name !== ".").reverse();
}
