import { plainPaint } from "../../../../../src/cli/report/terminal.ts";
import type { ReportContext } from "../../../../../src/cli/report/problem-report.ts";
import type { CheckReport } from "../../../../../src/skills/check.ts";

const lines = ["---", "name: Foo", "description: 100%, \u001b[31mred", "---"];

/** Two problems, one with hostile text in every field that a skill's author controls. */
export const exampleReport: CheckReport = {
  problems: [
    {
      code: "name-not-lowercase",
      severity: "error",
      file: "/project/skills/foo/SKILL.md",
      line: 2,
      column: 7,
      endLine: 2,
      endColumn: 10,
      message: "name `Foo` contains uppercase letters",
      fix: "Rename it to `foo`.",
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
  fixable: 1,
  complaints: [],
  stamp: "",
};

export const exampleContext: ReportContext = {
  cwd: "/project",
  paint: plainPaint,
  columns: 80,
  maxProblems: 20,
  version: "1.2.3",
  sourceLine: (file, line) => (file.startsWith("/project") ? lines[line - 1] : undefined),
};
