import { SkillsError } from "../../errors.ts";
import type { SessionSkills } from "../../skills/skillset.ts";
import type { Problem } from "../../skills/rules/problem.ts";
import { isRecord } from "../bytes/raw-message.ts";

/** The answer to `_acp-skills/list_problems`. */
interface ProblemPage {
  readonly problems: readonly Problem[];
  /** The number of all problems. */
  readonly total: number;
  /** Where the next page begins; null on the last. */
  readonly next_offset: number | null;
}

const usualLimit = 100;
const mostLimit = 200;

/**
 * A page of the problems of a session's skills: `{offset?, limit?}`, by default the first 100. Pages may overlap if skills change between
 * requests. Throws VALIDATION_ERROR.
 */
export function pageOfProblems(params: unknown, { snapshot: { problems } }: SessionSkills["catalog"]): ProblemPage {
  const { offset = 0, limit = usualLimit } = isRecord(params) ? params : {};
  if (!isWhole(offset, 0)) throw invalid("offset", "a whole number, 0 or more", offset);
  if (!isWhole(limit, 1)) throw invalid("limit", `a whole number from 1 to ${mostLimit}`, limit);
  const end = offset + Math.min(limit, mostLimit);
  return {
    problems: problems.slice(offset, end),
    total: problems.length,
    next_offset: end < problems.length ? end : null,
  };
}

function isWhole(value: unknown, least: number): value is number {
  return Number.isSafeInteger(value) && Number(value) >= least;
}

function invalid(name: string, expected: string, value: unknown): SkillsError {
  const actual = typeof value === "number" && Number.isFinite(value) ? value : typeof value;
  return new SkillsError("VALIDATION_ERROR", `Invalid parameters of list_problems. ${name}: expected ${expected}.`, {
    facts: { violations: [{ field: `/${name}`, expected, actual }] },
  });
}
