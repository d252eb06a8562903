import path from "node:path";
import { isSkillsError } from "../../../base/errors.ts";
import { readLock } from "../../../sources/lock-file.ts";
import { directoryName } from "../../../sources/lock.ts";
import { projectPlace } from "../../../sources/skills-place.ts";
import { projectsAround } from "../../../skills/environment.ts";

/** The root of the repository that a skill is a part of; undefined for one that was installed into it, whose license is another's. */
export function licenseRepository(directory: string, home: string): string | undefined {
  const [, repository] = projectsAround(directory, home);
  return repository === undefined || isInstalled(directory, home) ? undefined : repository;
}

function isInstalled(directory: string, home: string): boolean {
  const project = path.resolve(directory, "../../..");
  if (path.relative(project, path.dirname(directory)) !== path.join(".agents", "skills")) return false;
  try {
    const { entries } = readLock(projectPlace(project, home, process.env));
    return [...entries.keys()].map(directoryName).includes(path.basename(directory));
  } catch (error) {
    if (!isSkillsError(error)) throw error;
    return true; // Of a lock that cannot be read, nothing is known.
  }
}
