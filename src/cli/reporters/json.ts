import type { Reporter } from "../check-report.ts";

/** `{problems, checked, fixed}`, one problem a line. */
export const jsonReporter: Reporter = function* ({ problems, checked, fixed }) {
  yield '{"problems":[';
  let separator = "\n";
  for (const { code, severity, file, line, column, message, fix } of problems) {
    yield separator + JSON.stringify({ code, severity, file, line, column, message, fix });
    separator = ",\n";
  }
  yield `\n],"checked":${checked},"fixed":${JSON.stringify(fixed.map(({ file, codes }) => ({ file, codes })))}}\n`;
};
