import { isSkillsError, SkillsError } from "../../errors.ts";
import type { Skill } from "../../skills/skill.ts";
import satisfies from "semver/functions/satisfies.js";
import type { SkillView } from "../../tools/view/skill-view.ts";

/**
 * The skills that a skill's manifest depends on, each in its newest version that will do. Throws SKILL_NOT_READY where one is not there
 * (or not visible, which is the same).
 */
export function dependenciesOf(skill: Skill, skills: SkillView): readonly Skill[] {
  return (skill.manifest?.dependencies?.skills ?? []).map((text) => {
    const [name = text, range] = text.split("@");
    try {
      const { versions } = skills.find(name);
      const found = versions.find(({ version }) => range === undefined || satisfies(version, range));
      if (found !== undefined) return found;
    } catch (error) {
      if (!isSkillsError(error) || error.code !== "SKILL_NOT_FOUND") throw error;
    }
    const message = `The skill ${skill.name} depends on ${text}, which is not there.`;
    throw new SkillsError("SKILL_NOT_READY", message, {
      facts: { hint: `Install the skill ${name}.`, retryable: false },
    });
  });
}
