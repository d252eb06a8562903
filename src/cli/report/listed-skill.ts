import type { Problem } from "../../skills/rules/problem.ts";
import type { OfferedSkill } from "../../skills/skill.ts";
import type { AvailableSkill } from "../../wire/available-skill.ts";
import { toAvailableSkill } from "../../wire/command-facts.ts";

/** One skill in `list --json`: the fields that editors receive, its path and its problems. `digest` only if it was computed. */
export type ListedSkill = AvailableSkill & {
  /** Absolute path of SKILL.md. */
  readonly path: string;
  readonly digest?: string;
  readonly problems: readonly Problem[];
};

/** Converts a skill; keys have a fixed order. */
export function toListedSkill(offered: OfferedSkill, digest?: string): ListedSkill {
  const listed = toAvailableSkill(offered, digest);
  return Object.assign(listed, {
    path: offered.skill.file,
    ...(digest !== undefined && { digest }),
    problems: offered.problems,
  });
}
