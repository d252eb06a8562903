import type { Problem } from "../../../skills/rules/problem.ts";
import type { RuleCode } from "../../../skills/rules/rules.ts";
import type { SkillCounts } from "../../../skills/rules/skill-counts.ts";
import type { Paint } from "../../report/colour.ts";

/** What a check found, for a reporter to print. */
export interface CheckReport {
  /** In the order of their files, then of their places. */
  readonly problems: readonly Problem[];
  /** How many skills were looked at. */
  readonly checked: number;
  /** Of all that were found. */
  readonly counts: SkillCounts;
  /** What was repaired, one entry a file. */
  readonly fixed: readonly { readonly file: string; readonly codes: readonly RuleCode[] }[];
}

/** What a reporter may know beyond the report. */
export interface ReportContext {
  /** Paths inside are shown relative to it. */
  readonly cwd: string;
  readonly paint: Paint;
  /** The terminal's width; undefined where nothing has to be cut. */
  readonly columns: number | undefined;
  readonly version: string;
  /** A line of a file, from 1; undefined where there is none. */
  readonly sourceLine: (file: string, line: number) => string | undefined;
}

/** Prints a report in pieces. Pure: same report, same text. */
export type Reporter = (report: CheckReport, context: ReportContext) => Iterable<string>;
