import { readFileRequirements } from "./file-requirements.ts";
import { matchRequirement } from "./match-requirement.ts";
import { codeRequirements, statedRequirements } from "./requirements-of.ts";
import type { SkillSource } from "../files.ts";
import type { Skill } from "../skill.ts";
import type { EnvironmentProbes, Match } from "../environment.ts";

/** Matches everything that a skill asks for, in its frontmatter, its manifest and its files. */
export async function matchSkill(
  skill: Skill,
  source: SkillSource,
  surroundings: EnvironmentProbes,
): Promise<readonly Match[]> {
  const requirements = [
    ...statedRequirements(skill),
    ...codeRequirements(skill),
    ...(await readFileRequirements(skill, source)),
  ];
  const matches: Match[] = [];
  for (const requirement of requirements) matches.push(await matchRequirement(requirement, surroundings));
  return matches;
}
