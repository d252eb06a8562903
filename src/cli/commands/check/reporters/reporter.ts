import type { CheckReport } from "../../../../skills/check/check-skills.ts";
import type { Paint } from "../../../report/colour.ts";

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
