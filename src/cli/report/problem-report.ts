import { type Problem, type RuleCode, rules } from "../../skills/rules.ts";
import { counted } from "../../base/text/code-points.ts";
import { safeText } from "./safe-text.ts";
import { shownPath } from "../../base/paths/location.ts";
import { type Paint, plainPaint } from "./terminal.ts";
import type { Advice, CheckReport, SkillAdvice } from "../../skills/check.ts";
import type { SkillCounts } from "../../skills/skill.ts";
import { cutToWidth, displayWidth } from "./table.ts";

const defaultColumns = 100;

const atLevels: Readonly<Record<string, { readonly lenient: string } | undefined>> = rules;

/** Human-readable: each problem with position, code frame and fix; then a summary by rule. */
export const prettyReporter: Reporter = function* (report, context) {
  const { cwd, paint, maxProblems } = context;
  for (const { file, codes } of report.fixed) {
    yield `${paint("green", "fixed")} ${safeText(shownPath(file, cwd))}: ${[...new Set(codes)].join(", ")}\n`;
  }
  if (report.fixed.length > 0) yield "\n";
  for (const problem of shownProblems(report.problems, maxProblems)) {
    const isLeftOut = atLevels[problem.code]?.lenient === "error";
    yield prettyProblem(problem, context, isLeftOut ? ": the skill is not offered" : "");
  }
  const more = notShown(report.problems, maxProblems);
  if (more !== undefined) yield `${more}\n\n`;
  yield* rulesTable(report, context);
  if (report.advice?.length) yield* adviceLines(report.advice, context);
  // Without skills, the message that none were found replaces the summary.
  if (report.checked > 0 || report.problems.length > 0) yield `${summary(report, context)}\n`;
};

/** The findings of third-party scanners, each under the name of its tool. */
export function* adviceLines(
  advice: readonly (Advice & Partial<SkillAdvice>)[],
  { paint, maxProblems }: Pick<ReportContext, "paint" | "maxProblems">,
): Iterable<string> {
  yield `\n${paint("bold", "Advice of others")}, which decides nothing here:\n`;
  for (const { tool, rule, severity, message, file, path = file, line, isOutdated } of advice.slice(0, maxProblems)) {
    const where = path === "" ? "" : ` ${safeText(path)}${line === undefined ? "" : `:${line}`}`;
    const other = isOutdated === true ? " (of other bytes than these)" : "";
    yield `  ${paint("dim", safeText(`${tool}${other}:`))} ${severity} ${safeText(rule)}${where}: ${safeText(message)}\n`;
  }
  if (advice.length > maxProblems) yield `  and ${advice.length - maxProblems} more\n`;
  yield "\n";
}

/** The number of problems by rule, errors first, then by count. */
function* rulesTable({ problems }: CheckReport, { paint }: ReportContext): Iterable<string> {
  const counts = new Map<string, { code: string; severity: Problem["severity"]; count: number }>();
  for (const { code, severity } of problems) {
    const row = counts.get(`${severity} ${code}`) ?? { code, severity, count: 0 };
    counts.set(`${severity} ${code}`, row);
    row.count++;
  }
  const order = ["error", "warning", "note"];
  const rows = [...counts.values()].sort(
    (a, b) => order.indexOf(a.severity) - order.indexOf(b.severity) || b.count - a.count,
  );
  const width = String(Math.max(0, ...rows.map(({ count }) => count))).length;
  for (const { code, severity, count } of rows) {
    const noun = `${severity}${count === 1 ? " " : "s"}`.padEnd(severity === "note" ? 5 : 8);
    yield `${String(count).padStart(width)} ${paint(severityColours[severity], noun)} ${code}\n`;
  }
}

/** One problem with its position, code frame and fix. */
export function prettyProblem(
  problem: Problem,
  { cwd, paint, columns, sourceLine }: Pick<ReportContext, "cwd" | "paint" | "columns" | "sourceLine">,
  effect = "",
): string {
  const { code, severity, file, line, column, endLine, endColumn, message, fix } = problem;
  const where = `${safeText(shownPath(file, cwd))}:${line}:${column}`;
  const frame = codeFrame(
    {
      line,
      column,
      endColumn: endLine === line ? endColumn : endLine === undefined ? undefined : Infinity,
      sourceLine: (number) => sourceLine(file, number),
    },
    columns ?? defaultColumns,
    paint,
  );
  return [
    `${paint("bold", where)} ${paint(severityColours[severity], severity)} ${paint("dim", code)}${effect}`,
    `  ${safeText(message)}`,
    ...frame.map((row) => `  ${row}`),
    `  ${paint("cyan", "fix:")} ${safeText(fix)}`,
    "",
    "",
  ].join("\n");
}

function summary({ problems, checked, fixed, fixable }: CheckReport, { paint }: ReportContext): string {
  const found = problems.length === 0 ? paint("green", "no problems") : saySeverities(problems, paint);
  const repaired = fixed.reduce((sum, { codes }) => sum + codes.length, 0);
  const fixes = [
    ...(repaired > 0 ? [`; ${repaired} fixed`] : []),
    ...(fixable > 0 ? [`; ${fixable} can be fixed with --fix`] : []),
  ];
  return `${counted(checked, "skill")} checked: ${found}${fixes.join("")}`;
}

/** Context for a reporter besides the report. */
export interface ReportContext {
  /** The directory to which paths inside it are shown as relative. */
  readonly cwd: string;
  readonly paint: Paint;
  /** The width of the terminal; undefined if nothing must be truncated. */
  readonly columns: number | undefined;
  /** The maximum number of problems in human-readable reports. */
  readonly maxProblems: number;
  readonly version: string;
  /** A line of a file, numbered from 1; undefined if there is none. */
  readonly sourceLine: (file: string, line: number) => string | undefined;
}

/** Formats a report in chunks. Pure. */
export type Reporter = (report: CheckReport, context: ReportContext) => Iterable<string>;

/** The problems to show, in order; if there are too many, errors before warnings. */
export function shownProblems(problems: readonly Problem[], maxShown: number): readonly Problem[] {
  if (problems.length <= maxShown) return problems;
  const worst = (["error", "warning", "note"] as const).flatMap((severity) =>
    problems.filter((problem) => problem.severity === severity),
  );
  const shown = new Set(worst.slice(0, maxShown));
  return problems.filter((problem) => shown.has(problem));
}

/** `… and 3 more problems (see --max-problems)`; undefined if all are shown. */
export function notShown({ length }: readonly Problem[], maxShown: number): string | undefined {
  if (length <= maxShown) return undefined;
  return `… and ${counted(length - maxShown, "more problem")}; show more with --max-problems`;
}

const reasons: Partial<Record<RuleCode, string>> = {
  "too-deep": "too deep",
  "skill-ignored": "ignored by git",
  "skill-file-unused": "next to another SKILL.md",
  "skill-file-misnamed": "not named SKILL.md",
  "manifest-alone": "skill.toml without SKILL.md",
  "dangling-symlink": "behind dangling links",
  "not-a-regular-file": "not a regular file",
  "too-many-directories": "beyond the directory limit",
  "not-read-in-time": "not read in time",
  "ignored-unsearched": "in ignored directories",
};

/** The last line of an incomplete list or check: how many skills were found and checked, and why others were not. */
export function sayCounts(given: SkillCounts): string | undefined {
  const { found, checked, notChecked, complete, reasons: why } = given;
  if (complete && notChecked === 0) return undefined;
  const left = complete ? `${notChecked}` : notChecked === 0 ? "an unknown number" : `at least ${notChecked}`;
  const counts = `found ${found}, checked ${checked}, not checked ${left}`;
  if (why.length === 0) return counts;
  const parts = why.map(({ code, count }) => `${count === 0 ? "" : `${count} `}${reasons[code] ?? code}`);
  return `${counts} (${parts.join(", ")})`;
}

const severityColours = { error: "red", warning: "yellow", note: "yellow" } as const;

/** The number of problems by severity: `3 errors, 1 warning`. */
export function saySeverities(problems: readonly Problem[], paint: Paint = plainPaint): string {
  const counts = (["error", "warning", "note"] as const).flatMap((severity) => {
    const count = problems.filter((problem) => problem.severity === severity).length;
    return count === 0 ? [] : [paint(severityColours[severity], counted(count, severity))];
  });
  return counts.join(", ");
}

/** A position in a file, and a reader for the lines around it. */
interface FramePosition {
  readonly line: number;
  /** From 1, in code points. */
  readonly column: number;
  /** The end of the marked span, exclusive; without it, one character is marked. */
  readonly endColumn?: number | undefined;
  readonly sourceLine: (line: number) => string | undefined;
}

/**
 * Shows the line of the position between its neighbours, with carets under the span. Long lines are cut around the column. Empty if the
 * line does not exist.
 */
export function codeFrame(
  { line, column, endColumn = 0, sourceLine }: FramePosition,
  columns: number,
  paint: Paint,
): string[] {
  const meant = sourceLine(line);
  if (meant === undefined) return [];
  const numbers = String(line + 1).length;
  const room = Math.max(20, columns - numbers - 7);
  const points = Array.from(meant);
  const before = safeText(points.slice(0, column - 1).join(""));
  const skipped = skippedPoints(points, column, room);
  const visibleBefore = skipped === 0 ? before : `…${safeText(points.slice(skipped, column - 1).join(""))}`;
  const meantText = visibleBefore + safeText(points.slice(column - 1).join(""));

  const rows: string[] = [];
  const row = (number: number, text: string, marked: boolean): void => {
    const gutter = `${marked ? ">" : " "} ${String(number).padStart(numbers)} |`;
    rows.push(`${paint(marked ? "red" : "dim", gutter)} ${cutToWidth(text, room)}`.trimEnd());
  };
  const previous = line > 1 ? sourceLine(line - 1) : undefined;
  if (previous !== undefined) row(line - 1, safeText(previous), false);
  row(line, meantText, true);
  const indent = displayWidth(visibleBefore);
  const span = displayWidth(safeText(points.slice(column - 1, Math.max(column, endColumn - 1)).join("")).trimEnd());
  const marks = "^".repeat(Math.max(1, Math.min(span, room - indent)));
  rows.push(`${paint("dim", `  ${" ".repeat(numbers)} |`)} ${" ".repeat(indent)}${paint("red", marks)}`);
  const next = sourceLine(line + 1);
  if (next !== undefined) row(line + 1, safeText(next), false);
  return rows;
}

/** How many code points at the start of a line to omit so that the column is visible, with some text before it. */
function skippedPoints(points: readonly string[], column: number, room: number): number {
  let skipped = 0;
  let width = displayWidth(safeText(points.slice(0, column).join("")));
  const wanted = Math.floor((room * 2) / 3);
  while (width > wanted && skipped < column - 1) {
    width -= displayWidth(safeText(points[skipped] ?? ""));
    skipped++;
  }
  return skipped;
}
