import { realpathSync, statSync } from "node:fs";
import type { Stats } from "node:fs";
import path from "node:path";
import { identityOf } from "../files/follow-path.ts";
import { isSkillFileName } from "../scan/skill-file-names.ts";
import { isVersion } from "../manifest/skill-version.ts";
import type { Root } from "../scan/roots.ts";

/** What one PATH of `check` asks for. */
export interface CheckScope {
  /** As it was given. */
  readonly given: string;
  readonly roots: readonly Root[];
  /** Where skills are looked for, relative to the current directory if PATH is. */
  readonly lookedIn: readonly string[];
  /** Real path of what counts: findings and skills elsewhere do not. Undefined where nothing is there (yet). */
  readonly within: string | undefined;
  /** Whether only the skill in that very directory counts, not those below it. */
  readonly alone: boolean;
}

/** Why a PATH cannot be checked. */
export interface ScopeFault {
  readonly scopeFault: string;
}

/** Where projects keep their skills: searched even if .gitignore excludes them. */
const projectPlaces = [path.join(".agents", "skills"), path.join(".claude", "skills")];

/** A PATH is a skill's file, a skill's directory, or a directory that holds many. */
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

/** In `<skill>/<version>/` the directory above tells the skill's name, so the search starts there. */
function aboveVersion(directory: string): string {
  return isVersion(path.basename(directory)) ? path.dirname(directory) : directory;
}

/** Of what a path leads to; undefined where that does not exist or cannot be read, which reading it reports. */
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
