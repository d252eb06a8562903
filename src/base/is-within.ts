import { realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";

/** Whether a path is a directory or lies in it, by whole segments; both are absolute and normal. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** The same of what the paths lead to by links; what is not there yet lies where it would be made. */
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
