import satisfies from "semver/functions/satisfies.js";
import { isSkillsError, SkillsError } from "../../../base/errors.ts";
import { type Permissions, needsGrant, permissionsOf } from "../../../skills/permissions.ts";
import type { Skill } from "../../../skills/skill.ts";
import type { CallerSkills } from "../run-caller.ts";

type FindSkill = Pick<CallerSkills, "find">;

/**
 * The skills that a skill's manifest depends on, each in the newest version that satisfies the range. Throws SKILL_NOT_READY where one
 * is missing or not visible.
 */
export function dependenciesOf(skill: Skill, skills: FindSkill): readonly Skill[] {
  return (skill.manifest?.dependencies?.skills ?? []).map((text) => {
    const [name = text, range] = text.split("@");
    try {
      const { versions } = skills.find(name);
      const found = versions.find(({ version }) => range === undefined || satisfies(version, range));
      if (found !== undefined) return found;
    } catch (error) {
      if (!isSkillsError(error) || error.code !== "SKILL_NOT_FOUND") throw error;
    }
    const message = `The skill ${skill.name} depends on ${text}, which is not installed.`;
    throw new SkillsError("SKILL_NOT_READY", message, {
      facts: { hint: `Install the skill ${name}.`, retryable: false },
    });
  });
}

/** A skill that another one's code can call, with the permissions it then has. */
export interface CalledSkill extends Permissions {
  readonly skill: string;
}

/** The skills with permissions that a skill's code can call, directly or through its dependencies. */
export function callsOf(skill: Skill, skills: FindSkill): readonly CalledSkill[] {
  const seen = new Set([skill]);
  for (const caller of seen) for (const called of presentDependenciesOf(caller, skills)) seen.add(called);
  seen.delete(skill);
  return [...seen].flatMap((called) => {
    const permissions = permissionsOf(called);
    return needsGrant(permissions) ? [{ skill: called.name, ...permissions }] : [];
  });
}

/** Without those that are missing, which prevent the run altogether. */
export function presentDependenciesOf(skill: Skill, skills: FindSkill): readonly Skill[] {
  try {
    return dependenciesOf(skill, skills);
  } catch (error) {
    if (isSkillsError(error) && error.code === "SKILL_NOT_READY") return [];
    throw error;
  }
}
