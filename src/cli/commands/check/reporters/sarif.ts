import path from "node:path";
import { pathToFileURL } from "node:url";
import { rules } from "../../../../skills/rules/rules.ts";
import type { Reporter } from "./reporter.ts";
import { jsonText } from "../../../report/json-text.ts";
import { shownPath } from "../../../report/shown-path.ts";

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
