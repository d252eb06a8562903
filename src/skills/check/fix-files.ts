import { isUtf8 } from "node:buffer";
import { realpath, stat } from "node:fs/promises";
import path from "node:path";
import { systemCode, writeReasons } from "../../base/failures/system-error.ts";
import { isSkillsError } from "../../base/errors.ts";
import { fixSkill } from "./fix-skill.ts";
import { openRegularFile } from "../../base/paths/at-real-path.ts";
import { guardedPart, leadsIntoGit } from "../../base/paths/guarded-names.ts";
import { isWithin } from "../../base/paths/location.ts";
import type { RuleCode } from "../rules.ts";

/** A SKILL.md that may need repairs. */
export interface FixableSkill {
  readonly directory: string;
  readonly expectedName: string;
  readonly file: string;
}

/** A repaired file, with one code for each problem. */
export interface FixedFile {
  readonly file: string;
  readonly codes: readonly RuleCode[];
}

export interface FixOutcome {
  readonly fixed: readonly FixedFile[];
  /** Why fixable files were not changed. */
  readonly refusals: readonly string[];
}

/** Longer files are not repaired, because a repair loads the whole file. */
const longestFixable = 16 * 1024 * 1024;

/** Repairs files, each with one call of `write`. Never writes outside `bounds` (real paths), even through symlinks. */
export async function fixFiles(
  skills: readonly FixableSkill[],
  bounds: readonly string[],
  write: (file: string, text: string) => void,
): Promise<FixOutcome> {
  const fixed: { file: string; codes: readonly RuleCode[] }[] = [];
  const refusals: string[] = [];
  for (const skill of skills) {
    let { file } = skill;
    try {
      file = await realpath(file);
      const text = await readWhole(file).catch(ifReported);
      if (text === undefined) continue;
      const repaired = fixSkill(text, { expectedName: await nameToMatch(skill) });
      if (repaired.text === text) continue;
      if (!bounds.some((bound) => isWithin(file, bound))) {
        refusals.push(`${file} was not fixed: it is outside the given paths`);
        continue;
      }
      const trusted = bounds.find((bound) => isTrusted(file, bound));
      if (trusted !== undefined) {
        refusals.push(`${file} was not fixed: a link leads to it, and git, agents or editors trust it`);
        continue;
      }
      write(file, repaired.text);
      fixed.push({ file, codes: repaired.fixed });
    } catch (error) {
      const reason = writeReasons[systemCode(error)] ?? (error instanceof Error ? error.message : String(error));
      // The scan reports symbolic links without a target.
      if (systemCode(error) !== "ENOENT") refusals.push(`${file} was not fixed: ${reason}`);
    }
  }
  return { fixed, refusals };
}

/** Whether others than those who read skills trust what is at a real path below a directory. */
function isTrusted(real: string, above: string): boolean {
  const isSkill = path.basename(real).toLowerCase() === "skill.md";
  return leadsIntoGit(real, above) || (!isSkill && guardedPart(path.relative(above, real)) !== undefined);
}

/** The scan also reports anything that is not a regular file. */
function ifReported(error: unknown): undefined {
  if (!isSkillsError(error)) throw error;
}

/** With a skill.toml, the name in the frontmatter is only a display name. */
async function nameToMatch({ directory, expectedName }: FixableSkill): Promise<string> {
  const manifest = await stat(path.join(directory, "skill.toml")).catch(() => undefined);
  return manifest === undefined ? expectedName : "";
}

/** The text of a regular file; undefined if writing it back could lose data, because it is too long or not UTF-8. */
async function readWhole(file: string): Promise<string | undefined> {
  const handle = await openRegularFile(file);
  try {
    if ((await handle.stat()).size > longestFixable) return undefined;
    const bytes = await handle.readFile();
    return isUtf8(bytes) ? bytes.toString("utf8") : undefined;
  } finally {
    await handle.close();
  }
}
