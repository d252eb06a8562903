import { type ConformanceReport, junitReport, textReport } from "../../../conformance/report.ts";
import { jsonText, safeText } from "../../report/safe-text.ts";
import type { Terminal } from "../../report/terminal.ts";

export const formats = ["text", "json", "junit"] as const;
export type Format = (typeof formats)[number];

/** A function that writes a report to a file, or prints it on stdout. */
export function printReport(
  terminal: Terminal,
  format: Format,
  output: ((text: string) => void) | undefined,
): (report: ConformanceReport) => Promise<void> {
  return async (report) => {
    if (output === undefined) await terminal.print(piecesOf(report, format));
    else output([...piecesOf(report, format)].join(""));
  };
}

function* piecesOf(report: ConformanceReport, format: Format): Iterable<string> {
  switch (format) {
    case "text":
      yield* safeTextReport(report);
      return;
    case "json":
      yield `${jsonText(report, 2)}\n`;
      return;
    case "junit":
      yield* junitReport(report);
  }
}

/** The lines of the text report, with control characters escaped. */
export function* safeTextReport(report: ConformanceReport): Iterable<string> {
  for (const line of textReport(report)) yield `${safeText(line)}\n`;
}
