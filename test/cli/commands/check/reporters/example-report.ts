import type { CheckReport, ReportContext } from "../../../../../src/cli/commands/check/check-report.ts";
import { plainPaint } from "../../../../../src/cli/report/colour.ts";

const lines = ["---", "name: Foo", "description: 100%, \u001b[31mred", "---"];

/** Two problems, one of them hostile in every field that skill text can reach. */
export const exampleReport: CheckReport = {
  problems: [
    {
      code: "name-not-lowercase",
      severity: "error",
      file: "/project/skills/foo/SKILL.md",
      line: 2,
      column: 7,
      message: "the name Foo is not lowercase",
      fix: "Write it as foo.",
    },
    {
      code: "field-unexpected",
      severity: "warning",
      file: "/elsewhere/50%, a:b/SKILL.md",
      line: 3,
      column: 14,
      message: "100% of \u001b[31mred\n::error::injected",
      fix: "Remove it.",
    },
  ],
  checked: 2,
  counts: { found: 2, checked: 2, notChecked: 0, complete: true, reasons: [] },
  fixed: [],
};

export const exampleContext: ReportContext = {
  cwd: "/project",
  paint: plainPaint,
  columns: 80,
  version: "1.2.3",
  sourceLine: (file, line) => (file.startsWith("/project") ? lines[line - 1] : undefined),
};
