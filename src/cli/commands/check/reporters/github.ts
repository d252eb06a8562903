import type { Reporter } from "./reporter.ts";
import { notShown, shownProblems } from "./shown-problems.ts";
import { safeText } from "../../../report/safe-text.ts";
import { shownPath } from "../../../report/shown-path.ts";

/** GitHub Actions workflow commands, which GitHub shows as annotations next to the lines. */
export const githubReporter: Reporter = function* ({ problems }, { cwd, maxProblems }) {
  for (const problem of shownProblems(problems, maxProblems)) {
    const { code, severity, file, line, column, endLine, endColumn, message, fix } = problem;
    const end = endLine === undefined ? "" : `,endLine=${endLine},endColumn=${endColumn}`;
    const where = `file=${property(safeText(shownPath(file, cwd)))},line=${line},col=${column}${end}`;
    yield `::${severity === "note" ? "notice" : severity} ${where},title=${property(code)}::${data(safeText(`${message}. ${fix}`))}\n`;
  }
  const more = notShown(problems, maxProblems);
  if (more !== undefined) yield `::notice title=acp-skills::${data(more)}\n`;
};

function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
