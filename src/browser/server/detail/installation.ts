import { existsSync } from "node:fs";
import path from "node:path";
import { stateOf } from "../../../sources/installed.ts";
import { isSkillsError, SkillsError } from "../../../base/errors.ts";
import { shownSource } from "../../../sources/lock.ts";
import { readLock } from "../../../sources/lock-file.ts";
import { findSkillsDirectory } from "../../../sources/install-scope.ts";
import type { SkillDetail } from "../../wire/skills.ts";
import type { DisplayRoots } from "../browse-context.ts";
import { scopeNames } from "../../wire/sources.ts";
import { toInstallScope } from "../sources/install-scopes.ts";
import type { SkillSource } from "../../../skills/files.ts";
import { invalidPath, locateSkillFile, skillPathFault } from "../../../skills/hash.ts";
import type { ShownSkill } from "../rows/row-texts.ts";

/** Finds the source of an installed skill, and whether its files are modified; undefined if no readable lock names the skill. */
export async function findInstallation(directory: string, context: DisplayRoots): Promise<SkillDetail["installed"]> {
  for (const scope of scopeNames) {
    const where = toInstallScope(scope, context);
    if (!existsSync(where.lockFile)) continue;
    try {
      const skills = findSkillsDirectory(where);
      if (skills === undefined || path.dirname(directory) !== skills) continue;
      const name = path.basename(directory);
      const entry = readLock(where).entries.get(name);
      if (entry === undefined) continue;
      const { state } = await stateOf(skills, name, entry);
      return { source: shownSource(entry), isModified: state === "changed" };
    } catch (error) {
      if (!isSkillsError(error)) throw error; // The view of sources says what is wrong with the lock.
    }
  }
  return undefined;
}

/** The real path of a file of a skill, by the rules of `read_skill_file`. Throws INVALID_PATH or FILE_NOT_FOUND. */
export function locateFile({ offered, file, row }: ShownSkill, relative: string, source: SkillSource): string {
  const fault = skillPathFault(relative);
  if (fault !== undefined) throw invalidPath(fault);
  const directory = offered?.skill.directory ?? source.files.resolve(path.dirname(file));
  // For a skill that is not offered, only the files that its problems are about.
  const isServed = offered !== undefined || [path.basename(file), "skill.toml"].includes(relative);
  const skill = offered?.skill ?? { directory: directory ?? "" };
  const real = directory === undefined || !isServed ? undefined : locateSkillFile(source, skill, relative);
  if (real !== undefined) return real;
  throw new SkillsError("FILE_NOT_FOUND", `Unknown file ${JSON.stringify(relative)} in the skill ${row.name}.`);
}
