import type { Problem } from "../../skills/rules.ts";
import { codeFrame } from "./code-frame.ts";
import { counted } from "../../base/text/code-points.ts";
import { safeText } from "./safe-text.ts";
import { saySeverities, severityColours } from "./say-counts.ts";
import { shownPath } from "../../base/paths/location.ts";
import type { Paint } from "./terminal.ts";
import type { CheckReport } from "../../skills/check.ts";

const defaultColumns = 100;

/** Human-readable: each problem with position, code frame and fix; then a summary by rule. */
export const prettyReporter: Reporter = function* (report, context) {
  const { cwd, paint, maxProblems } = context;
  for (const { file, codes } of report.fixed) {
    yield `${paint("green", "fixed")} ${safeText(shownPath(file, cwd))}: ${[...new Set(codes)].join(", ")}\n`;
  }
  if (report.fixed.length > 0) yield "\n";
  for (const problem of shownProblems(report.problems, maxProblems)) yield prettyProblem(problem, context);
  const more = notShown(report.problems, maxProblems);
  if (more !== undefined) yield `${more}\n\n`;
  yield* rulesTable(report, context);
  // Without skills, the message that none were found replaces the summary.
  if (report.checked > 0 || report.problems.length > 0) yield `${summary(report, context)}\n`;
};

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
    `${paint("bold", where)} ${paint(severityColours[severity], severity)} ${paint("dim", code)}`,
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
  /** Paths inside it are shown as relative. */
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
export function shownProblems(problems: readonly Problem[], most: number): readonly Problem[] {
  if (problems.length <= most) return problems;
  const worst = (["error", "warning", "note"] as const).flatMap((severity) =>
    problems.filter((problem) => problem.severity === severity),
  );
  const shown = new Set(worst.slice(0, most));
  return problems.filter((problem) => shown.has(problem));
}

/** `… and 3 more problems (see --max-problems)`; undefined if all are shown. */
export function notShown({ length }: readonly Problem[], most: number): string | undefined {
  if (length <= most) return undefined;
  return `… and ${counted(length - most, "more problem")}; show more with --max-problems`;
}
