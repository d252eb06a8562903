import type { Reporter } from "./reporter.ts";
import { jsonText } from "../../../report/json-text.ts";

/** `{problems, checked, fixed, fixable, counts}`, one problem per line. */
export const jsonReporter: Reporter = function* ({ problems, checked, fixed, fixable, counts }) {
  yield '{"problems":[';
  let separator = "\n";
  for (const { code, severity, file, line, column, endLine, endColumn, message, fix } of problems) {
    yield separator + jsonText({ code, severity, file, line, column, endLine, endColumn, message, fix });
    separator = ",\n";
  }
  yield `\n],"checked":${checked},"fixed":${jsonText(fixed.map(({ file, codes }) => ({ file, codes })))},"fixable":${fixable},"counts":${jsonText(counts)}}\n`;
};
