import { SkillsError } from "../../errors.ts";
import { isWithin } from "../../base/is-within.ts";
import { joinPath } from "../files/real-paths.ts";
import type { Skill } from "../skill.ts";
import { isHiddenName } from "./skill-path.ts";
import type { SkillSource } from "../files/skill-source.ts";
import { isHiddenBelow } from "./walk-skill.ts";

/**
 * The real path of a file that may be served, of a path without fault (`skillPathFault`). What is hidden is not there; what leads
 * outside the skill's directory throws INVALID_PATH.
 */
export function locateSkillFile({ files }: SkillSource, { directory }: Skill, path: string): string | undefined {
  const segments = path.split("/");
  if (segments.some(isHiddenName)) return undefined;
  const real = files.resolve(segments.reduce(joinPath, directory));
  if (real === undefined) return undefined;
  if (!isWithin(real, directory)) throw invalidPath("leads outside the skill's directory");
  return isHiddenBelow(real, directory) ? undefined : real;
}

/** `fault` is the end of a sentence that starts with "The path". */
export function invalidPath(fault: string): SkillsError {
  const hint = "Take a path from the files that describe_skill lists, such as SKILL.md or references/guide.md.";
  return new SkillsError("INVALID_PATH", `The path ${fault}.`, { facts: { hint } });
}
