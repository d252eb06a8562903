import { isSkillsError } from "../../errors.ts";
import type { Permissions } from "../../skills/manifest/metadata-permissions.ts";
import type { Skill } from "../../skills/skill.ts";
import { permissionsOf } from "../../skills/manifest/permissions-of.ts";
import type { SkillView } from "../../tools/view/skill-view.ts";
import { neededBy } from "../authorize/check-grants.ts";
import { dependenciesOf } from "./dependencies-of.ts";

/** A skill that another one's code can call, and what it then does with permissions of its own. */
export interface CalledSkill extends Permissions {
  readonly skill: string;
}

/** The skills with permissions that a skill's code can call, itself or through others that it depends on (CONTRACT C-5.5). */
export function callsOf(skill: Skill, skills: SkillView): readonly CalledSkill[] {
  const seen = new Set([skill]);
  for (const caller of seen) for (const called of presentDependenciesOf(caller, skills)) seen.add(called);
  seen.delete(skill);
  return [...seen].flatMap((called) => {
    const permissions = permissionsOf(called);
    return neededBy(permissions).length === 0 ? [] : [{ skill: called.name, ...permissions }];
  });
}

function presentDependenciesOf(skill: Skill, skills: SkillView): readonly Skill[] {
  try {
    return dependenciesOf(skill, skills);
  } catch (error) {
    // One that is not there keeps the skill from being run at all.
    if (isSkillsError(error) && error.code === "SKILL_NOT_READY") return [];
    throw error;
  }
}
