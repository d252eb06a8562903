import type { Reporter } from "../check-report.ts";
import { jsonText } from "../../../report/json-text.ts";

/** `{problems, checked, fixed, counts}`, one problem a line. */
export const jsonReporter: Reporter = function* ({ problems, checked, fixed, counts }) {
  yield '{"problems":[';
  let separator = "\n";
  for (const { code, severity, file, line, column, message, fix } of problems) {
    yield separator + jsonText({ code, severity, file, line, column, message, fix });
    separator = ",\n";
  }
  yield `\n],"checked":${checked},"fixed":${jsonText(fixed.map(({ file, codes }) => ({ file, codes })))},"counts":${jsonText(counts)}}\n`;
};
