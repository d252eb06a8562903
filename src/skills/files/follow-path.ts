import { lstatSync, readlinkSync } from "node:fs";
import type { Stats } from "node:fs";
import path from "node:path";
import { joinPath } from "./skill-files.ts";

/** Where the way to a path turns or ends: `name` in `directory`, which is a real path. */
export interface Step {
  readonly directory: string;
  readonly name: string;
}

/** How a path is reached. */
export interface Way {
  /** Every link on the way, and its end or the first name that is not there. */
  readonly steps: readonly Step[];
  /** Where it leads; undefined where that is nowhere. */
  readonly real: string | undefined;
  readonly isDirectory: boolean;
  /** What tells the thing from a later one of the same path. */
  readonly identity: string | undefined;
}

/** As many as Linux follows. */
const maxLinks = 40;
export const noWay: Way = Object.freeze({
  steps: Object.freeze([]),
  real: undefined,
  isDirectory: false,
  identity: undefined,
});

/** Follows an absolute path. Never throws: what may not be looked at is as good as missing. */
export function followPath(target: string): Way {
  const { root } = path.parse(target);
  return follow(target, root, segments(target.slice(root.length)));
}

/** The same where the directory above is known to be a real path. */
export function followLast(target: string): Way {
  return follow(target, path.dirname(target), [path.basename(target)]);
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

/** From a real directory; the last name of `rest` is next. */
function follow(target: string, from: string, rest: string[]): Way {
  const steps: Step[] = [];
  let real = from;
  let stats: Stats | undefined;
  let links = 0;
  for (let name = rest.pop(); name !== undefined; name = rest.pop()) {
    if (name === "." || name === "..") {
      stats ??= statsOf(real);
      // Of a file, nothing is a name but its own.
      if (stats?.isDirectory() !== true) return { ...noWay, steps: [...steps, stepTo(real)] };
      if (name === "..") {
        real = path.dirname(real);
        stats = undefined;
      }
      continue;
    }
    const next = joinPath(real, name);
    stats = statsOf(next);
    const isLink = stats?.isSymbolicLink() === true;
    if (isLink || stats === undefined || rest.length === 0) steps.push({ directory: real, name });
    if (stats === undefined) return { ...noWay, steps };
    if (!isLink) {
      real = next;
      continue;
    }
    const to = ++links <= maxLinks ? linkText(next) : undefined;
    if (to === undefined) return { ...noWay, steps };
    const { root } = path.parse(to);
    if (root !== "") real = path.resolve(real, root);
    stats = undefined;
    rest.push(...segments(to.slice(root.length)));
  }
  stats ??= statsOf(real);
  if (stats === undefined) return { ...noWay, steps };
  return { steps, real: real === target ? target : real, isDirectory: stats.isDirectory(), identity: identify(stats) };
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
  // A slash at the end asks for a directory, as a dot does.
  const asked = names.at(-1) === "" ? [...names, "."] : names;
  return asked.filter((name) => name !== "").reverse();
}

function stepTo(real: string): Step {
  return { directory: path.dirname(real), name: path.basename(real) };
}
