import type { Problem } from "./rules/problem.ts";
import type { Level, RuleSettings } from "./rules.ts";
import type { Skill, SkillCounts } from "./skill.ts";
import type { SkillFiles } from "./files.ts";
import type { Assertion, EvalCase } from "./check/evals-file.ts";
import type { FixedFile } from "./check/fix-files.ts";

/** Options of a check. */
export interface CheckOptions {
  /** Base of relative paths. Default: the current directory. */
  readonly cwd?: string;
  /** Which rules apply. Default: `agents`. */
  readonly level?: Level;
  /** Severities that override those of the level. */
  readonly rules?: RuleSettings;
  /** Whether to apply unambiguous repairs to files in place first. */
  readonly fix?: boolean;
  /** @internal */
  readonly files?: SkillFiles;
  /** Called before a directory is read. @internal */
  readonly onDirectory?: (directory: string) => void;
}

/** The result of a check. */
export interface CheckReport {
  /** Sorted by file, then by position. */
  readonly problems: readonly Problem[];
  /** Number of checked skills. */
  readonly checked: number;
  /** The counts of all skills found. */
  readonly counts: SkillCounts;
  /** The repaired files. */
  readonly fixed: readonly FixedFile[];
  /** Number of problems that `fix` would repair. */
  readonly fixable: number;
  /** Requests that could not be fulfilled, such as a path without skills. */
  readonly complaints: readonly string[];
  /** Changes whenever a checked file changes. @internal */
  readonly stamp: string;
}

export type { Assertion, EvalCase };

/**
 * The cases in `evals/evals.json` of a skill in its real directory. Throws UNREADABLE if there is no such file, INVALID_OPTIONS that names
 * each fault.
 */
export async function readEvalCases(directory: string): Promise<readonly EvalCase[]> {
  const { readCasesOf } = await import("./check/evals-file.ts");
  return readCasesOf(directory);
}

/** Checks the skills at paths. What it needs is loaded here, not with what imports this. */
export async function checkPaths(paths: readonly string[], options: CheckOptions): Promise<CheckReport> {
  const { checkSkillPaths } = await import("./check/check-skills.ts");
  return await checkSkillPaths(paths, options);
}

/** A skill that is only in memory yet. */
export interface CheckedFiles {
  /** Undefined if no agent would be offered it. */
  readonly skill: Skill | undefined;
  /** Also of skills in its subdirectories. */
  readonly problems: readonly Problem[];
}

/** The files of a skill; paths are relative, with `/`. */
export type SkillContent = readonly { readonly path: string; readonly bytes: Uint8Array }[];

/** Checks the files of one skill as where they are to be installed. */
export async function checkFiles(directory: string, files: SkillContent, level: Level): Promise<CheckedFiles> {
  const { checkSkillFiles } = await import("./check/check-skills.ts");
  return await checkSkillFiles(directory, files, level);
}

/**
 * Validates the skills at paths as `acp-skills check` does: each is a SKILL.md, a skill's directory, or a directory that contains skills.
 * Problems are returned, not thrown.
 */
export async function checkSkills(
  paths: readonly string[],
  options: Pick<CheckOptions, "cwd" | "level" | "rules" | "fix"> = {},
): Promise<Omit<CheckReport, "stamp">> {
  const { problems, checked, counts, fixed, fixable, complaints } = await checkPaths(paths, options);
  return { problems, checked, counts, fixed, fixable, complaints };
}
