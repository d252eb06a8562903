import { readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { isGitName } from "./guarded-names.ts";

/** Whether a path is a directory or is inside it, by whole segments; both are absolute and normalised. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** The same after resolving links; a missing path is where it would be created. */
export function liesIn(path: string, directory: string): boolean {
  return isWithin(whereItLies(path), whereItLies(directory));
}

/** The real path; of what is missing, where it would be created. */
export function whereItLies(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(whereItLies(parent), basename(path));
  }
}

/**
 * Whether a real path below a directory leads into a repository of git: by its name, or by the files from which git takes a directory for
 * one, under whatever name. So the directory that a file `.git` names is one, and its common directory.
 */
export function leadsIntoGit(real: string, above: string): boolean {
  if (real === above || !isWithin(real, above)) return false;
  return isGitName(basename(real)) || isRepository(real) || leadsIntoGit(dirname(real), above);
}

function isRepository(directory: string): boolean {
  try {
    const names = readdirSync(directory).map((name) => name.toLowerCase());
    // A linked worktree has the rest in its common directory.
    return (
      names.includes("head") &&
      (names.includes("commondir") || ["objects", "refs"].every((name) => names.includes(name)))
    );
  } catch {
    return false; // Missing, or no directory.
  }
}
