import type { CheckReport } from "../../../../skills/check/check-skills.ts";
import type { Paint } from "../../../report/colour.ts";

/** What a reporter may know beyond the report. */
export interface ReportContext {
  /** Paths inside are shown relative to it. */
  readonly cwd: string;
  readonly paint: Paint;
  /** The terminal's width; undefined where nothing has to be cut. */
  readonly columns: number | undefined;
  /** How many problems are shown to people. */
  readonly maxProblems: number;
  readonly version: string;
  /** A line of a file, from 1; undefined where there is none. */
  readonly sourceLine: (file: string, line: number) => string | undefined;
}

/** Prints a report in pieces. Pure: same report, same text. */
export type Reporter = (report: CheckReport, context: ReportContext) => Iterable<string>;
