import { readFileRequirements } from "../../../../skills/environment/file-requirements.ts";
import { matchRequirement, summarise } from "../../../../skills/environment/match.ts";
import type { Match, Surroundings } from "../../../../skills/environment/match.ts";
import { describeDemand } from "../../../../skills/environment/requirement.ts";
import { codeRequirements, statedRequirements } from "../../../../skills/environment/requirements-of.ts";
import type { SkillSource } from "../../../../skills/files/skill-files.ts";
import type { Skill } from "../../../../skills/skill.ts";

/** Matches everything that a skill asks for, in its frontmatter, its manifest and its files. */
export async function matchSkill(
  skill: Skill,
  source: SkillSource,
  surroundings: Surroundings,
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

/** One line: `missing: git; unknown: network access`. Undefined if nothing is asked for. */
export function sayEnvironment(matches: readonly Match[]): string | undefined {
  const summary = summarise(matches);
  if (summary === undefined) return undefined;
  const parts = (["missing", "unknown"] as const).flatMap((status) => {
    const names = matches
      .filter((match) => match.status === status && match.requirement.optional === undefined)
      .map(({ requirement }) => describeDemand(requirement));
    return names.length === 0 ? [] : [`${status}: ${[...new Set(names)].join(", ")}`];
  });
  return parts.length === 0 ? "met" : parts.join("; ");
}
