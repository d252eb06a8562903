import path from "node:path";
import { byCodePoint } from "../../../skills/text/code-point-order.ts";
import { identityOf } from "../../../skills/files/follow-path.ts";
import type { Problem } from "../../../skills/rules/problem.ts";
import type { DirectoryRecord } from "../../../skills/files/read-directory.ts";
import { isWithin } from "../../../base/is-within.ts";
import { toProblems } from "../../../skills/rules/rules.ts";
import type { Finding, Level } from "../../../skills/rules/rules.ts";
import { Scan } from "../../../skills/scan/scan.ts";
import { countSkills } from "../../../skills/rules/skill-counts.ts";
import type { SkillCounts } from "../../../skills/rules/skill-counts.ts";
import type { SkillFiles } from "../../../skills/files/skill-files.ts";
import { runInSlices } from "../../../base/slices.ts";
import { findBodyFaults } from "./body-fault.ts";
import type { CheckReport } from "./check-report.ts";
import { isScopeFault, toCheckScope } from "./check-scope.ts";
import type { CheckScope } from "./check-scope.ts";
import { findCollisions } from "./find-collisions.ts";
import { fixFiles } from "./fix-files.ts";
import type { FixableSkill, FixOutcome } from "./fix-files.ts";
import { shownPath } from "../../report/shown-path.ts";
import { statsOf } from "../../arguments/stats-of.ts";

export interface CheckOptions {
  readonly paths: readonly string[];
  readonly cwd: string;
  readonly level: Level;
  readonly fix: boolean;
  readonly files: SkillFiles;
  /** Called before a directory is read. */
  readonly onDirectory?: (directory: string) => void;
}

export interface CheckOutcome {
  readonly report: CheckReport;
  /** Sentences about what was asked for and could not be done. */
  readonly complaints: readonly string[];
  /** Whether the exit code is 1. */
  readonly failed: boolean;
  /** Changes whenever a checked file does. */
  readonly stamp: string;
}

/** Checks, after repairing where that is asked for. Reads everything anew each time. */
export async function runCheckOnce(options: CheckOptions): Promise<CheckOutcome> {
  const { cwd, level, fix } = options;
  const scopes: CheckScope[] = [];
  const complaints: string[] = [];
  for (const given of options.paths) {
    const scope = toCheckScope(given, cwd);
    if (isScopeFault(scope)) complaints.push(scope.scopeFault);
    else scopes.push(scope);
  }
  let found = await search(scopes, options);
  let repairs: FixOutcome = { fixed: [], refusals: [] };
  if (fix) {
    const bounds = scopes.flatMap(({ within }) => within ?? []);
    repairs = await fixFiles(found.records.map(toFixable), bounds);
    if (repairs.fixed.length > 0) found = await search(scopes, options);
  }
  complaints.push(...found.emptyScopes.map((scope) => nothingThere(scope, cwd)));
  const bodies = level === "spec" ? found.records.flatMap(bodyFaults) : [];
  const problems = [...toProblems([...found.findings, ...bodies], level), ...found.collisions].sort(byPlace);
  return {
    report: { problems, checked: found.counts.checked, counts: found.counts, fixed: repairs.fixed },
    complaints: [...complaints, ...repairs.refusals],
    failed: complaints.length > 0 || problems.some(({ severity }) => severity === "error"),
    stamp: found.records.map((record) => fileStamp(skillFile(record))).join(" "),
  };
}

function nothingThere({ lookedIn }: CheckScope, cwd: string): string {
  return `no skills found in ${lookedIn.map((place) => shownPath(place, cwd)).join(", ")}`;
}

interface Search {
  readonly records: readonly DirectoryRecord[];
  readonly findings: readonly Finding[];
  readonly collisions: readonly Problem[];
  readonly counts: SkillCounts;
  readonly emptyScopes: readonly CheckScope[];
}

/** Looks below all scopes at once, so that what lies in several of them is told as a catalog of these roots would tell it. */
async function search(scopes: readonly CheckScope[], { files, onDirectory }: CheckOptions): Promise<Search> {
  const roots = new Map(scopes.flatMap((scope) => scope.roots.map((root) => [root.path, root])));
  const scan = new Scan({ roots: [...roots.values()], files, ...(onDirectory && { onDirectory }) });
  const found = await runInSlices(scan.run(), { now: () => performance.now(), slice: Infinity });
  const skills = found.skills.filter(({ record }) => scopes.some((scope) => counts(record.path, scope)));
  const others = found.findings.filter(({ file }) => scopes.some((scope) => concerns(file, scope)));
  const records = skills.map(({ record }) => record);
  const isEmpty = (scope: CheckScope): boolean => !records.some(({ path: directory }) => counts(directory, scope));
  return {
    records,
    findings: [...others, ...records.flatMap(recordFindings)],
    counts: countSkills(records, others),
    collisions: findCollisions(skills),
    emptyScopes: scopes.filter((scope) => scope.within !== undefined && isEmpty(scope)),
  };
}

function recordFindings({ findings }: DirectoryRecord): readonly Finding[] {
  return findings;
}

function counts(directory: string, { within, alone }: CheckScope): boolean {
  if (within === undefined) return true;
  return alone ? directory === within : isWithin(directory, within);
}

function concerns(file: string, { within, alone }: CheckScope): boolean {
  if (within === undefined) return true;
  return alone ? path.dirname(file) === within : isWithin(file, within);
}

function toFixable(record: DirectoryRecord): FixableSkill {
  return { directory: record.path, expectedName: record.expectedName, file: skillFile(record) };
}

function bodyFaults(record: DirectoryRecord): readonly Finding[] {
  if (record.findings.some(({ code }) => code === "invalid-utf8")) return [];
  return findBodyFaults(skillFile(record));
}

/** The file of a skill, which need not be offered, nor be a file. */
function skillFile({ path: directory, skill }: DirectoryRecord): string {
  if (skill !== undefined) return skill.file;
  const names = ["SKILL.md", "skill.md"].map((name) => path.join(directory, name));
  return names.find((name) => identityOf(name) !== undefined) ?? directory;
}

function byPlace(a: Problem, b: Problem): number {
  return byCodePoint(a.file, b.file) || a.line - b.line || a.column - b.column;
}

function fileStamp(file: string): string {
  const stats = statsOf(file);
  return stats === undefined ? "gone" : `${stats.mtimeMs}/${stats.size}/${stats.ino}`;
}
