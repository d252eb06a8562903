import type { Problem } from "../../../../skills/rules/problem.ts";
import type { CheckReport, ReportContext, Reporter } from "../check-report.ts";
import { codeFrame } from "../../../report/code-frame.ts";
import { counted } from "../../../report/counted.ts";
import { safeText } from "../../../report/safe-text.ts";
import { shownPath } from "../../../report/shown-path.ts";

const defaultColumns = 100;

/** For people: each problem with its place, a code frame and what to do; then one line with the counts. */
export const prettyReporter: Reporter = function* (report, context) {
  const { cwd, paint } = context;
  for (const { file, codes } of report.fixed) {
    yield `${paint("green", "fixed")} ${safeText(shownPath(file, cwd))}: ${codes.join(", ")}\n`;
  }
  if (report.fixed.length > 0) yield "\n";
  for (const problem of report.problems) yield prettyProblem(problem, context);
  if (!isEmpty(report)) yield `${summary(report, context)}\n`;
};

/** "No problems" would be said of nothing; who asked is told where nothing was found. */
function isEmpty({ problems, checked }: CheckReport): boolean {
  return checked === 0 && problems.length === 0;
}

function prettyProblem(problem: Problem, { cwd, paint, columns, sourceLine }: ReportContext): string {
  const { code, severity, file, line, column, message, fix } = problem;
  const where = `${safeText(shownPath(file, cwd))}:${line}:${column}`;
  const colour = severity === "error" ? "red" : "yellow";
  const frame = codeFrame(
    { line, column, sourceLine: (number) => sourceLine(file, number) },
    columns ?? defaultColumns,
    paint,
  );
  return [
    `${paint("bold", where)} ${paint(colour, severity)} ${paint("dim", code)}`,
    `  ${safeText(message)}`,
    ...frame.map((row) => `  ${row}`),
    `  ${paint("cyan", "fix:")} ${safeText(fix)}`,
    "",
    "",
  ].join("\n");
}

function summary({ problems, checked, fixed }: CheckReport, { paint }: ReportContext): string {
  const errors = problems.filter(({ severity }) => severity === "error").length;
  const warnings = problems.filter(({ severity }) => severity === "warning").length;
  const notes = problems.length - errors - warnings;
  const found =
    problems.length === 0
      ? paint("green", "no problems")
      : [
          ...(errors > 0 ? [paint("red", counted(errors, "error"))] : []),
          ...(warnings > 0 ? [paint("yellow", counted(warnings, "warning"))] : []),
          ...(notes > 0 ? [counted(notes, "note")] : []),
        ].join(", ");
  const repaired = fixed.reduce((sum, { codes }) => sum + codes.length, 0);
  return `${counted(checked, "skill")} checked: ${found}${repaired > 0 ? `, ${repaired} fixed` : ""}`;
}
