import { realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";

/** Whether a path is a directory or is inside it, by whole segments; both are absolute and normalised. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** The same after resolving links; a missing path is where it would be created. */
export function liesIn(path: string, directory: string): boolean {
  return isWithin(whereItLies(path), whereItLies(directory));
}

function whereItLies(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(whereItLies(parent), basename(path));
  }
}
