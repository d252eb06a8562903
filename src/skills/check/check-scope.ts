import { realpathSync, statSync } from "node:fs";
import type { Stats } from "node:fs";
import path from "node:path";
import { identityOf } from "../files/follow-path.ts";
import { isSkillFileName } from "../scan/read-directory.ts";
import { isVersion } from "../manifest/skill-version.ts";
import type { Root } from "../scan/roots.ts";

/** What one PATH argument of `check` covers. */
export interface CheckScope {
  /** The argument, unchanged. */
  readonly given: string;
  readonly roots: readonly Root[];
  /** The directories to search, relative to the current directory if PATH is relative. */
  readonly lookedIn: readonly string[];
  /** Real path that limits the results: findings and skills elsewhere are ignored. Undefined if it does not exist (yet). */
  readonly within: string | undefined;
  /** Whether only the skill in this directory counts, not those in its subdirectories. */
  readonly alone: boolean;
}

/** Why a PATH cannot be checked. */
export interface ScopeFault {
  readonly scopeFault: string;
}

/** The skill directories of projects, searched even if .gitignore excludes them. */
const projectPlaces = [path.join(".agents", "skills"), path.join(".claude", "skills")];

/** A PATH is the file of a skill, the directory of a skill, or a directory that contains skills. */
export function toCheckScope(given: string, cwd: string): CheckScope | ScopeFault {
  const target = path.resolve(cwd, given);
  const stats = statsOf(target);
  const isLink = stats === undefined && identityOf(target) !== undefined;
  if (stats === undefined && !isLink) {
    return { given, roots: [explicitRoot(target)], lookedIn: [given], within: undefined, alone: false };
  }
  if (stats?.isDirectory() !== true) {
    const name = path.basename(target);
    if (!isSkillFileName(name) && name !== "skill.toml") {
      if (isLink) return { scopeFault: `${given}: symbolic link without a target` };
      return { scopeFault: `${given}: not a directory, and not a file named SKILL.md` };
    }
    const directory = realpathSync.native(path.dirname(target));
    const lookedIn = [path.dirname(given)];
    return { given, roots: [rootOf(directory)], lookedIn, within: directory, alone: true };
  }
  const directory = realpathSync.native(target);
  const places = projectPlaces.map((place) => path.join(directory, place));
  const present = places.filter((place) => statsOf(place)?.isDirectory() === true);
  const lookedIn = [given, ...projectPlaces.map((place) => path.join(given, place))];
  return { given, roots: [...present.map(explicitRoot), rootOf(directory)], lookedIn, within: directory, alone: false };
}

export function isScopeFault(value: CheckScope | ScopeFault): value is ScopeFault {
  return "scopeFault" in value;
}

/** A directory that is not named `skills` may contain anything else. */
function rootOf(directory: string): Root {
  const root = explicitRoot(aboveVersion(directory));
  return path.basename(root.path) === "skills" ? root : { ...root, holdsAnything: true };
}

/** In `<skill>/<version>/`, the parent directory gives the name of the skill, so the search starts there. */
function aboveVersion(directory: string): string {
  return isVersion(path.basename(directory)) ? path.dirname(directory) : directory;
}

/** The stats of a path, following symlinks; undefined if it is missing or unreadable, which reading it reports. */
export function statsOf(target: string): Stats | undefined {
  try {
    return statSync(target, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function explicitRoot(directory: string): Root {
  return { path: directory, origin: "explicit" };
}
