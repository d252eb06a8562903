import type { Reporter } from "../check-report.ts";
import { safeText } from "../../../report/safe-text.ts";
import { shownPath } from "../../../report/shown-path.ts";

/** GitHub Actions workflow commands, which show as annotations beside the lines. */
export const githubReporter: Reporter = function* ({ problems }, { cwd }) {
  for (const { code, severity, file, line, column, message, fix } of problems) {
    const where = `file=${property(safeText(shownPath(file, cwd)))},line=${line},col=${column}`;
    yield `::${severity === "note" ? "notice" : severity} ${where},title=${property(code)}::${data(safeText(`${message}. ${fix}`))}\n`;
  }
};

function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
