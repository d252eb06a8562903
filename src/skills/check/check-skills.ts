import { type Stats, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { fileIdentityOf } from "../files/follow-path.ts";
import type { Problem } from "../rules/problem.ts";
import type { DirectoryRecord } from "../skillset/read-directory.ts";
import { attempt } from "../../base/failures/system-error.ts";
import { isWithin } from "../../base/paths/location.ts";
import { fileStamp } from "../../base/paths/identity.ts";
import { inOrder, toProblems } from "../rules.ts";
import type { Root } from "../skillset/roots.ts";
import { Scan } from "../skillset/scan.ts";
import { isSkillFileName, isVersion } from "../skill.ts";
import { runInSlices } from "../../base/promises.ts";
import { assemble } from "../skillset/assemble.ts";
import { diskSkillFiles } from "../files/disk-skill-files.ts";
import type { SkillFiles } from "../files.ts";
import type { FixOutcome, FixableSkill } from "./fix-files.ts";
import { replaceFile } from "../../base/paths/replace-file.ts";
import type { CheckOptions, CheckReport } from "../check.ts";
import { findBodyFaults, readsBody } from "../manifest/check-document.ts";
import { evalsFileOf, readEvalsFile } from "./evals-file.ts";

/** Rules whose problems may be fixable. */
const mayBeFixable = /^(?:yaml-|name-|byte-order-mark)/;

/**
 * Checks the skills at paths. Each path is a SKILL.md, the directory of a skill, or a directory that contains skills. With `fix`, repairs
 * files first. Caches nothing between calls.
 */
export async function checkSkillPaths(paths: readonly string[], options: CheckOptions = {}): Promise<CheckReport> {
  const { cwd = process.cwd(), level = "agents", rules: settings = {}, fix = false } = options;
  const reading = { files: diskSkillFiles(), ...options };
  const scopes: CheckScope[] = [];
  const complaints: string[] = [];
  for (const given of paths) {
    const scope = toCheckScope(given, cwd);
    if (typeof scope === "string") complaints.push(scope);
    else scopes.push(scope);
  }
  const bounds = scopes.flatMap(({ within }) => within ?? []);
  let found = await search(scopes, reading);
  const repair = async (skills: readonly FixableSkill[], write: typeof replaceFile): Promise<FixOutcome> => {
    if (skills.length === 0) return { fixed: [], refusals: [] };
    return await (await import("./fix-files.ts")).fixFiles(skills, bounds, write);
  };
  const repairs = await repair(fix ? found.records.map(toFixable) : [], replaceFile);
  if (repairs.fixed.length > 0) found = await search(scopes, reading);
  complaints.push(...found.emptyScopes.map(({ searched }) => `no skills found in ${searched.join(", ")}`));
  const bodies = found.records.filter((record) => readsBody(record, level));
  const besideFrontmatter = bodies.flatMap((record) => [
    ...findBodyFaults(skillFile(record), reading.files),
    ...(readEvalsFile(record.path)?.findings ?? []),
  ]);
  const problems = [
    ...toProblems([...found.findings, ...besideFrontmatter], level, settings),
    ...found.collisions.flatMap((problem) => withSetting(problem, settings)),
  ].sort(inOrder);
  const broken = new Set(problems.flatMap(({ code, file }) => (mayBeFixable.test(code) ? file : [])));
  const fixables = fix ? [] : found.records.map(toFixable).filter(({ file }) => broken.has(file));
  const { fixed: fixable } = await repair(fixables, () => undefined);
  return {
    problems,
    checked: found.counts.checked,
    counts: found.counts,
    fixed: repairs.fixed,
    fixable: fixable.reduce((sum, { codes }) => sum + codes.length, 0),
    complaints: [...complaints, ...repairs.refusals],
    stamp: found.records
      .flatMap((record) => [skillFile(record), evalsFileOf(record.path)].map((file) => fileStamp(file) ?? "gone"))
      .join(" "),
  };
}

function withSetting(problem: Problem, settings: Readonly<Record<string, Problem["severity"] | "off">>): Problem[] {
  const severity = settings[problem.code] ?? problem.severity;
  return severity === "off" ? [] : [{ ...problem, severity }];
}

/** Rules about skills with the same name in one catalog. */
const ofSeveral: ReadonlySet<string> = new Set(["slug-collision", "slug-qualified", "skill-copy", "skill-shadowed"]);

/** Searches all scopes in one scan, so that skills with equal names in several scopes are reported as in a catalog with these roots. */
async function search(
  scopes: readonly CheckScope[],
  { files, onDirectory }: Pick<CheckOptions, "onDirectory"> & { readonly files: SkillFiles },
) {
  const roots = new Map(scopes.flatMap((scope) => scope.roots.map((root) => [root.path, root])));
  const limits = { durationMs: Infinity };
  const scan = new Scan({ roots: [...roots.values()], files, limits, ...(onDirectory && { onDirectory }) });
  const found = await runInSlices(scan.run(), { slice: Infinity });
  const skills = found.skills.filter(({ record }) => scopes.some((scope) => covers(scope, record.path)));
  const others = found.findings.filter(({ file }) => scopes.some((scope) => covers(scope, file, path.dirname(file))));
  const records = skills.map(({ record }) => record);
  const snapshot = assemble({ skills, findings: others });
  const isEmpty = (scope: CheckScope): boolean => !records.some((record) => covers(scope, record.path));
  return {
    records,
    findings: [...others, ...records.flatMap((record) => record.findings)],
    counts: snapshot.counts,
    collisions: snapshot.problems
      .filter(({ code }) => ofSeveral.has(code))
      .map((problem) => {
        const isTogether = [...roots.values()].some((root) => !root.holdsAnything && isWithin(problem.file, root.path));
        return problem.code === "slug-qualified" && !isTogether ? { ...problem, severity: "note" as const } : problem;
      }),
    emptyScopes: scopes.filter((scope) => scope.within !== undefined && isEmpty(scope)),
  };
}

/** Whether a skill's directory, or the path of a finding, is within a scope. */
function covers({ within, alone }: CheckScope, file: string, directory = file): boolean {
  return within === undefined || (alone ? directory === within : isWithin(file, within));
}

function toFixable(record: DirectoryRecord): FixableSkill {
  return { directory: record.path, expectedName: record.expectedName, file: skillFile(record) };
}

/** The path of the SKILL.md, even if the skill is not offered or the path is not a file. */
function skillFile({ path: directory, skill }: DirectoryRecord): string {
  if (skill !== undefined) return skill.file;
  const names = ["SKILL.md", "skill.md"].map((name) => path.join(directory, name));
  return names.find((name) => fileIdentityOf(name) !== undefined) ?? directory;
}

/** The scope of one PATH argument of `check`. */
interface CheckScope {
  readonly roots: readonly Root[];
  /** The directories to search, relative to the current directory if PATH is relative. */
  readonly searched: readonly string[];
  /** Real path that limits the results: findings and skills outside it are ignored. Undefined if it does not exist (yet). */
  readonly within: string | undefined;
  /** Whether only the skill in this directory counts, not the skills in its subdirectories. */
  readonly alone: boolean;
}

/** The skill directories of projects, searched even if .gitignore excludes them. */
const projectDirectories = [path.join(".agents", "skills"), path.join(".claude", "skills")];

/** The scope of a PATH: a skill's file, a skill's directory, or a directory that contains skills; else why it is none of these. */
function toCheckScope(given: string, cwd: string): CheckScope | string {
  const target = path.resolve(cwd, given);
  const stats = statsOf(target);
  const isLink = stats === undefined && fileIdentityOf(target) !== undefined;
  if (stats === undefined && !isLink) {
    return { roots: [explicitRoot(target)], searched: [given], within: undefined, alone: false };
  }
  if (stats?.isDirectory() !== true) {
    const name = path.basename(target);
    if (!isSkillFileName(name) && name !== "skill.toml") {
      return `${given}: ${isLink ? "symbolic link without a target" : "not a directory, and not a file named SKILL.md"}`;
    }
    const directory = realpathSync.native(path.dirname(target));
    return { roots: [rootOf(directory)], searched: [path.dirname(given)], within: directory, alone: true };
  }
  const directory = realpathSync.native(target);
  const directories = projectDirectories.map((name) => path.join(directory, name));
  const present = directories.filter((name) => statsOf(name)?.isDirectory() === true);
  const searched = [given, ...projectDirectories.map((name) => path.join(given, name))];
  return { roots: [...present.map(explicitRoot), rootOf(directory)], searched, within: directory, alone: false };
}

/** The root for a directory. For `<skill>/<version>/`, it is the parent directory. A directory not named `skills` may contain anything. */
function rootOf(directory: string): Root {
  const root = explicitRoot(isVersion(path.basename(directory)) ? path.dirname(directory) : directory);
  return path.basename(root.path) === "skills" ? root : { ...root, holdsAnything: true };
}

/** The stats of a path, following symlinks. Undefined if it is missing or unreadable, which the later read reports. */
function statsOf(target: string): Stats | undefined {
  return attempt(() => statSync(target, { throwIfNoEntry: false }), undefined);
}

function explicitRoot(directory: string): Root {
  return { path: directory, origin: "explicit" };
}

/** Searches the directory of one skill for all skills in it. */
export function searchWhole(directory: string, files: SkillFiles): ReturnType<typeof search> {
  const roots = [{ ...explicitRoot(directory), holdsAnything: true }];
  return search([{ roots, searched: [], within: directory, alone: false }], { files });
}
