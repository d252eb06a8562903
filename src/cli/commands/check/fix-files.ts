import { realpath, stat } from "node:fs/promises";
import { isUtf8 } from "node:buffer";
import path from "node:path";
import { isSkillsError } from "../../../errors.ts";
import { fixSkill } from "../../../skills/rules/fix-skill.ts";
import { openRegularFile } from "../../../skills/files/open-regular-file.ts";
import { isWithin } from "../../../base/is-within.ts";
import type { RuleCode } from "../../../skills/rules/rules.ts";
import { replaceFile } from "../../replace-file.ts";

/** A SKILL.md that may need repairs. */
export interface FixableSkill {
  readonly directory: string;
  readonly expectedName: string;
  readonly file: string;
}

export interface FixOutcome {
  readonly fixed: readonly { readonly file: string; readonly codes: readonly RuleCode[] }[];
  /** Sentences about files that were left alone although they need repairs. */
  readonly refusals: readonly string[];
}

/** A longer file is left alone: repairing means holding it whole. */
const longestFixable = 16 * 1024 * 1024;

/** Repairs files in place, each in one step. Writes nothing outside `bounds` (real paths), wherever links lead. */
export async function fixFiles(skills: readonly FixableSkill[], bounds: readonly string[]): Promise<FixOutcome> {
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
        refusals.push(`${file} was not fixed: it lies outside the given paths`);
        continue;
      }
      replaceFile(file, repaired.text);
      fixed.push({ file, codes: [...new Set(repaired.fixed)] });
    } catch (error) {
      if (isAbsence(error)) continue;
      refusals.push(`${file} was not fixed: ${reasonOf(error)}`);
    }
  }
  return { fixed, refusals };
}

/** The file that is written beside the skill's has a name that says nothing to people. */
function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "EACCES":
    case "EPERM":
      return "this user may not write in its directory";
    case "EROFS":
      return "its file system is read-only";
    case "ENOSPC":
    case "EDQUOT":
      return "the disk is full";
    default:
      return error instanceof Error ? error.message : String(error);
  }
}

/** A link that leads nowhere is reported by whoever looked for skills. */
function isAbsence(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** And so is what is no regular file. */
function ifReported(error: unknown): undefined {
  if (!isSkillsError(error)) throw error;
}

/** Beside a skill.toml, frontmatter has a display name, which matches nothing. */
async function nameToMatch({ directory, expectedName }: FixableSkill): Promise<string> {
  const manifest = await stat(path.join(directory, "skill.toml")).catch(() => undefined);
  return manifest === undefined ? expectedName : "";
}

/** A regular file's text; undefined where writing it back could lose something: too long, or not UTF-8. */
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
