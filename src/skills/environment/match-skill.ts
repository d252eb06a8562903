import { readFileRequirements } from "./file-requirements.ts";
import { matchRequirement } from "../environment.ts";
import type { Match, EnvironmentProbes } from "../environment.ts";
import { codeRequirements, statedRequirements } from "./requirements-of.ts";
import type { SkillSource } from "../files.ts";
import type { Skill } from "../skill.ts";

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
