import path from "node:path";
import { SkillsError, isSkillsError } from "../base/errors.ts";
import { joinPath } from "../base/paths/at-real-path.ts";
import { describeDemand, readFileRequirements, statedRequirements } from "./environment.ts";
import { type SkillFiles, memorySkillSource } from "./files.ts";
import { type HashedFile, createSkillHasher } from "./hash.ts";
import { readHostCommands } from "./manifest.ts";
import { findBodyFaults, readsBody } from "./manifest/check-document.ts";
import { type Capabilities, permissionsOf } from "./permissions.ts";
import type { Problem } from "./rules/problem.ts";
import { type Finding, type Level, type RuleSettings, inOrder, toProblems } from "./rules.ts";
import { type SkillCounts, directoryName, isScript, isSkillFileName } from "./skill.ts";
import {
  type DirectoryRecord,
  loadManifestReader,
  manifestName,
  needsManifestReader,
  readDirectory,
} from "./skillset/read-directory.ts";
import type { Assertion, EvalCase } from "./check/evals-file.ts";
import type * as adviceReader from "./check/advice.ts";
import type { Advice, SkillAdvice } from "./check/advice.ts";
import type { FixedFile } from "./check/fix-files.ts";

/** Options of a check. */
export interface CheckOptions {
  /** Base of relative paths. Default: the current directory. */
  readonly cwd?: string;
  /** The set of rules that apply. Default: `agents`. */
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
  /** The findings of other scanners, if any were passed: never counted as problems. */
  readonly advice?: readonly Advice[];
  /** Changes whenever a checked file changes. @internal */
  readonly stamp: string;
}

export type { Advice, Assertion, EvalCase, SkillAdvice };

/** Loads the functions that read the findings of other scanners, which most commands never need. */
export async function loadAdviceReader(): Promise<typeof adviceReader> {
  return await import("./check/advice.ts");
}

/**
 * Reads the cases in `evals/evals.json` of a skill in its real directory. Throws UNREADABLE if there is no such file, and INVALID_OPTIONS,
 * which names each fault.
 */
export async function readEvalCases(directory: string): Promise<readonly EvalCase[]> {
  const { readCasesOf } = await import("./check/evals-file.ts");
  return readCasesOf(directory);
}

/** Checks the skills at paths. Loads its modules only when called. */
export async function checkPaths(paths: readonly string[], options: CheckOptions): Promise<CheckReport> {
  const { checkSkillPaths } = await import("./check/check-skills.ts");
  return await checkSkillPaths(paths, options);
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

/** The properties and demands of a skill from elsewhere, read from its files before they are installed. */
export interface InspectedSkill {
  /** The name of the skill in its source: its directory, and its key in the lock. */
  readonly key: string;
  /** The name under which agents are offered the skill, according to its own files. */
  readonly slug: string;
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly digest: string;
  readonly wants: Capabilities;
  /** The agent's tools that the skill lists: shown, never granted. */
  readonly expects: readonly string[];
  /** The commands that agents that load the skill themselves run on this machine: shown, never run here. */
  readonly hostCommands: readonly string[];
  /** The files that the skill's digest covers. */
  readonly files: readonly HashedFile[];
  /** Paths of files that `execute_skill` can run. */
  readonly scripts: readonly string[];
  /** The requirements of the skill for the machine, in words. */
  readonly requires: readonly string[];
  /** Errors and warnings of `acp-skills check` at a level; the files are relative to the skill. */
  readonly problems: readonly Problem[];
}

/** Reads and validates a skill as if it were installed. Throws SOURCE_INVALID if no agent would be offered it. */
export async function inspectSkill(
  files: readonly { readonly path: string; readonly bytes: Uint8Array }[],
  key: string,
  level: Level = "agents",
): Promise<InspectedSkill> {
  const directory = path.resolve("/", "skills", directoryName(key));
  const source = memorySkillSource(directory, files);
  const names = files.map((file) => path.posix.basename(file.path));
  const { skill, problems } = await checkOne(directory, source.files, names, level);
  if (skill === undefined) {
    const error = problems.find(({ severity }) => severity === "error");
    throw unusable(error?.message ?? "it has no SKILL.md");
  }
  const hashed = await createSkillHasher()
    .hash(source, directory, new AbortController().signal)
    .catch((error: unknown) => {
      throw isSkillsError(error) ? unusable(error.message.replace(directory, key)) : error;
    });
  if (hashed.digest === undefined) throw new SkillsError("SOURCE_INVALID", "it has too many files");
  const requirements = [...statedRequirements(skill), ...(await readFileRequirements(skill, source))];
  return {
    key,
    slug: skill.slug,
    name: skill.name,
    version: skill.version,
    description: skill.description,
    digest: hashed.digest,
    files: hashed.files,
    wants: permissionsOf(skill),
    expects: skill.allowedTools ?? [],
    hostCommands: readHostCommands(skill.file, source.files),
    scripts: skill.dialect === "agent-skills" ? hashed.files.map((file) => file.path).filter(isScript) : [],
    requires: [...new Set(requirements.map(describeDemand))],
    problems: problems
      .filter(({ severity }) => severity !== "note")
      .map((problem) => ({ ...problem, file: path.relative(directory, problem.file) })),
  };
}

function unusable(why: string): SkillsError {
  return new SkillsError("SOURCE_INVALID", `no agent can use it: ${why}`);
}

/** Checks one skill. `names` are the names of its files: if they show no other skill inside, nothing is searched. */
async function checkOne(directory: string, files: SkillFiles, names: readonly string[], level: Level) {
  if (names.includes(manifestName)) await loadManifestReader();
  const { records, findings, collisions } =
    names.filter(isSkillFileName).length === 1
      ? readWhole(directory, files)
      : await (await import("./check/check-skills.ts")).searchWhole(directory, files);
  const bodies = records.flatMap((record) => {
    const file = record.skill?.file;
    return file === undefined || !readsBody(record, level) ? [] : findBodyFaults(file, files);
  });
  const problems = [...toProblems([...findings, ...bodies], level), ...collisions].sort(inOrder);
  return { skill: records.find((record) => record.path === directory)?.skill, problems };
}

/** Reads all directories of a skill. */
function readWhole(directory: string, files: SkillFiles) {
  const records: DirectoryRecord[] = [];
  const findings: Finding[] = [];
  const waiting = [directory];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    const record = readDirectory(directory, path.basename(directory), { files });
    if (record === undefined || record === needsManifestReader) continue;
    findings.push(...record.findings, ...record.unread);
    if (record.isSkill) records.push(record);
    waiting.push(...record.children.map(({ name }) => joinPath(record.path, name)));
  }
  return { records, findings, collisions: [] };
}
