import { realpathSync } from "node:fs";
import path from "node:path";
import { identityOf } from "../../../skills/files/follow-path.ts";
import { isSkillFileName } from "../../../skills/files/skill-file-names.ts";
import { isVersion } from "../../../skills/manifest/skill-version.ts";
import type { Root } from "../../../skills/scan/roots.ts";
import { statsOf } from "../../arguments/stats-of.ts";

/** What one PATH of `check` asks for. */
export interface CheckScope {
  /** As it was given. */
  readonly given: string;
  readonly roots: readonly Root[];
  /** Absolute paths, as they follow from what was given, where skills are looked for. */
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

/** Names where projects keep their skills: looked into although they may be ignored. */
const projectPlaces = [path.join(".agents", "skills"), path.join(".claude", "skills")];

/** A PATH is a skill's file, a skill's directory, or a directory that holds many. */
export function toCheckScope(given: string, cwd: string): CheckScope | ScopeFault {
  const target = path.resolve(cwd, given);
  const stats = statsOf(target);
  const isLink = stats === undefined && identityOf(target) !== undefined;
  if (stats === undefined && !isLink) {
    return { given, roots: [explicitRoot(target)], lookedIn: [target], within: undefined, alone: false };
  }
  if (stats?.isDirectory() !== true) {
    const name = path.basename(target);
    if (!isSkillFileName(name) && name !== "skill.toml") {
      if (isLink) return { scopeFault: `${given}: a link that leads nowhere` };
      return { scopeFault: `${given}: neither a directory nor a file called SKILL.md` };
    }
    const directory = realpathSync.native(path.dirname(target));
    const lookedIn = [path.dirname(target)];
    return { given, roots: [rootOf(directory)], lookedIn, within: directory, alone: true };
  }
  const directory = realpathSync.native(target);
  const places = projectPlaces.map((place) => path.join(directory, place));
  const present = places.filter((place) => statsOf(place)?.isDirectory() === true);
  const lookedIn = [target, ...projectPlaces.map((place) => path.join(target, place))];
  return { given, roots: [...present.map(explicitRoot), rootOf(directory)], lookedIn, within: directory, alone: false };
}

export function isScopeFault(value: CheckScope | ScopeFault): value is ScopeFault {
  return "scopeFault" in value;
}

/** Where PATH itself is no skill, nothing says that all it holds are skills. */
function rootOf(directory: string): Root {
  const root = explicitRoot(aboveVersion(directory));
  return path.basename(root.path) === "skills" ? root : { ...root, holdsAnything: true };
}

/** In `<skill>/<version>/` the directory above tells the skill's name, so the search starts there. */
function aboveVersion(directory: string): string {
  return isVersion(path.basename(directory)) ? path.dirname(directory) : directory;
}

function explicitRoot(directory: string): Root {
  return { path: directory, origin: "explicit" };
}
