import path from "node:path";
import { pathToFileURL } from "node:url";
import { rules } from "../../../../skills/rules.ts";
import { jsonLines } from "../../../report/json-output.ts";
import { jsonText, safeText } from "../../../report/safe-text.ts";
import { shownPath } from "../../../../base/paths/location.ts";
import { type Reporter, notShown, shownProblems } from "../../../report/problem-report.ts";

/** `{schemaVersion, problems, checked, fixed, fixable, counts, advice}`; `advice` only if it was passed. */
export const jsonReporter: Reporter = ({ problems, checked, fixed, fixable, counts, advice }) =>
  jsonLines({
    problems: problems.map(({ code, severity, file, line, column, endLine, endColumn, message, fix }) => {
      return { code, severity, file, line, column, endLine, endColumn, message, fix };
    }),
    checked,
    fixed: fixed.map(({ file, codes }) => ({ file, codes })),
    fixable,
    counts,
    ...(advice !== undefined && { advice }),
  });

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

const schema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/** A SARIF 2.1.0 log of one run, for code scanning. Files inside `cwd` have URIs relative to it. */
export const sarifReporter: Reporter = function* ({ problems }, { cwd, version }) {
  const codes = [...new Set(problems.map(({ code }) => code))].sort();
  const log = {
    $schema: schema,
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "acp-skills", version, rules: codes.map((code) => reportingDescriptor(code)) } },
        columnKind: "unicodeCodePoints",
        results: problems.map(({ code, severity, file, line, column, endLine, endColumn, message, fix }) => ({
          ruleId: code,
          ruleIndex: codes.indexOf(code),
          level: severity,
          message: { text: `${message}. ${fix}` },
          locations: [
            {
              physicalLocation: {
                artifactLocation: artifactLocation(file, cwd),
                region: { startLine: line, startColumn: column, ...(endLine !== undefined && { endLine, endColumn }) },
              },
            },
          ],
        })),
      },
    ],
  };
  yield `${jsonText(log, 2)}\n`;
};

function reportingDescriptor(code: string): object {
  const rule = (rules as Readonly<Record<string, { readonly title: string }>>)[code];
  return rule === undefined ? { id: code } : { id: code, shortDescription: { text: rule.title } };
}

function artifactLocation(file: string, cwd: string): object {
  const shown = shownPath(file, cwd);
  if (path.isAbsolute(shown)) return { uri: pathToFileURL(file).href };
  return { uri: shown.split(path.sep).map(encodeURIComponent).join("/"), uriBaseId: "%SRCROOT%" };
}
