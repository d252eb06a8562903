import { constants } from "node:fs";
import { open, realpath, stat } from "node:fs/promises";
import { isUtf8 } from "node:buffer";
import path from "node:path";
import { fixSkill } from "../skills/fix-skill.ts";
import { isWithin } from "../skills/real-paths.ts";
import type { RuleCode } from "../skills/rules.ts";
import { replaceFile } from "./replace-file.ts";

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
      const text = await readWhole(file);
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
      if (isAbsent(error)) continue;
      refusals.push(`${file} was not fixed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { fixed, refusals };
}

/** A link that leads nowhere is reported by whoever looked for skills. */
function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** Beside a skill.toml, frontmatter has a display name, which matches nothing. */
async function nameToMatch({ directory, expectedName }: FixableSkill): Promise<string> {
  const manifest = await stat(path.join(directory, "skill.toml")).catch(() => undefined);
  return manifest === undefined ? expectedName : "";
}

/** A regular file's text; undefined where writing it back could lose something: not a file, too long, or not UTF-8. */
async function readWhole(file: string): Promise<string | undefined> {
  const handle = await open(file, constants.O_RDONLY | ((constants as Partial<typeof constants>).O_NONBLOCK ?? 0));
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > longestFixable) return undefined;
    const bytes = await handle.readFile();
    return isUtf8(bytes) ? bytes.toString("utf8") : undefined;
  } finally {
    await handle.close();
  }
}
