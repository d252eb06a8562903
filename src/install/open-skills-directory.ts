import { findSkillsDirectory } from "../remote/lock/skills-place.ts";
import type { SkillsPlace } from "../remote/lock/skills-place.ts";
import { recoverSkills } from "../remote/lock/staging.ts";
import { writing } from "./replace-skills.ts";

/** The real path of the directory of skills, for a command that changes it: what was interrupted before is finished first. */
export function openSkillsDirectory(where: SkillsPlace): string | undefined {
  const skills = findSkillsDirectory(where);
  if (skills !== undefined) writing(where, () => recoverSkills(skills, Date.now()));
  return skills;
}
