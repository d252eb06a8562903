import type { Problem } from "../../skills/rules/problem.ts";
import type { OfferedSkill } from "../../skills/skill.ts";
import type { AvailableSkill } from "../../wire/available-skill.ts";
import { toAvailableSkill } from "../../wire/to-available-skill.ts";

/** One skill in `list --json`: what editors get, and where it stands. `digest` only where it has been computed. */
export type ListedSkill = AvailableSkill & {
  /** Absolute path of SKILL.md. */
  readonly path: string;
  readonly digest?: string;
  readonly problems: readonly Problem[];
};

/** Keys come in a fixed order, so that equal skills give equal JSON. */
export function toListedSkill(offered: OfferedSkill, digest?: string): ListedSkill {
  const listed = toAvailableSkill(offered, digest);
  return Object.assign(listed, {
    path: offered.skill.file,
    ...(digest !== undefined && { digest }),
    problems: offered.problems,
  });
}
