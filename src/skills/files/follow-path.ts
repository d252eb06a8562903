import { type Stats, lstatSync, readlinkSync } from "node:fs";
import path from "node:path";
import { attempt } from "../../base/failures/system-error.ts";
import { joinPath } from "../../base/paths/at-real-path.ts";

/** A link on the way to a path, or the end of the path: `name` in `directory`, which is a real path. */
export interface PathStep {
  readonly directory: string;
  readonly name: string;
}

/** The resolution of a path. */
export interface Way {
  /** Every link on the way, and the end or the first missing name. */
  readonly steps: readonly PathStep[];
  /** The real path; undefined if it does not exist. */
  readonly real: string | undefined;
  readonly isDirectory: boolean;
  /** Distinguishes the target from a later file or directory at the same path. */
  readonly identity: string | undefined;
}

/** The maximum number of links: as many as Linux follows. */
const maxLinks = 40;
export const noWay: Way = Object.freeze({
  steps: Object.freeze([]),
  real: undefined,
  isDirectory: false,
  identity: undefined,
});

/** Resolves an absolute path. Never throws: inaccessible counts as missing. */
export function followPath(target: string): Way {
  const { root } = path.parse(target);
  return follow(target, root, segments(target.slice(root.length)));
}

/** Follows only the last name of a path, whose parent is known to be a real path. */
export function followLast(target: string): Way {
  return follow(target, path.dirname(target), [path.basename(target)]);
}

/** Distinguishes a file from a later one at the same path, because an inode alone may be reused immediately. */
export function fileIdentityOf(target: string): string | undefined {
  const stats = statsOf(target);
  return stats && identify(stats);
}

export function isSameWay(a: Way, b: Way): boolean {
  const isSameStep = ({ directory, name }: PathStep, at: number): boolean =>
    directory === b.steps[at]?.directory && name === b.steps[at].name;
  return isSameEnd(a, b) && a.steps.length === b.steps.length && a.steps.every(isSameStep);
}

/** Whether two paths resolve to the same file or directory. */
export function isSameEnd(a: Way, b: Way): boolean {
  return a.identity === b.identity && a.real === b.real;
}

/** Follows names from a real directory; the last name of `rest` is next. */
function follow(target: string, from: string, rest: string[]): Way {
  const steps: PathStep[] = [];
  let real = from;
  let stats: Stats | undefined;
  let links = 0;
  for (let name = rest.pop(); name !== undefined; name = rest.pop()) {
    if (name === "." || name === "..") {
      stats ??= statsOf(real);
      // A file has no `.` or `..`.
      if (stats?.isDirectory() !== true)
        return { ...noWay, steps: [...steps, { directory: path.dirname(real), name: path.basename(real) }] };
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
    // If the link was just replaced, the next call notices that.
    const to = ++links <= maxLinks ? attempt(() => readlinkSync(next), undefined) : undefined;
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

/** The stats of a path. Undefined also for a loop, an invalid name, or a directory without permission. */
function statsOf(target: string): Stats | undefined {
  return attempt(() => lstatSync(target, { throwIfNoEntry: false }), undefined);
}

/** The segments of a path, the last one first. */
function segments(relative: string): string[] {
  const names = relative.split(path.sep === "/" ? "/" : /[\\/]/);
  // A trailing slash requires a directory, like a dot.
  const asked = names.at(-1) === "" ? [...names, "."] : names;
  return asked.filter((name) => name !== "").reverse();
}
