import path from "node:path";
import { SkillsError } from "../../../base/errors.ts";
import type { SkillSource } from "../../../skills/files.ts";
import { invalidPath, locateSkillFile, skillPathFault } from "../../../skills/hash.ts";
import type { ShownSkill } from "../rows/shown-skill.ts";

/** The real path of a file of a skill, by the rules of `read_skill_file`. Throws INVALID_PATH or FILE_NOT_FOUND. */
export function locateFile({ offered, file, row }: ShownSkill, relative: string, source: SkillSource): string {
  const fault = skillPathFault(relative);
  if (fault !== undefined) throw invalidPath(fault);
  const directory = offered?.skill.directory ?? source.files.resolve(path.dirname(file));
  // Of what is not offered, only what its problems are about.
  const isServed = offered !== undefined || [path.basename(file), "skill.toml"].includes(relative);
  const skill = offered?.skill ?? { directory: directory ?? "" };
  const real = directory === undefined || !isServed ? undefined : locateSkillFile(source, skill, relative);
  if (real !== undefined) return real;
  throw new SkillsError("FILE_NOT_FOUND", `Unknown file ${JSON.stringify(relative)} in the skill ${row.name}.`);
}
