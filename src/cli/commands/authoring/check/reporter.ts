import type { CheckReport } from "../../../../skills/check/check-skills.ts";
import type { Problem } from "../../../../skills/problem.ts";
import { counted } from "../../../../base/text/counted.ts";
import type { Paint } from "../../../report/terminal.ts";

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
