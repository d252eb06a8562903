import { expect, test } from "vitest";
import { prettyReporter } from "../../../src/cli/report/pretty.ts";
import { colourPaint } from "../../../src/cli/report/terminal.ts";
import type { Problem } from "../../../src/skills/rules/problem.ts";
import { exampleContext, exampleReport } from "../commands/authoring/check/example-report.ts";

test("prints each problem with position, code frame and fix, then a summary by rule", () => {
  expect([...prettyReporter(exampleReport, exampleContext)].join(""))
    .toBe(`skills/foo/SKILL.md:2:7 error name-not-lowercase
  name \`Foo\` contains uppercase letters
    1 | ---
  > 2 | name: Foo
      |       ^^^
    3 | description: 100%, \\u{1b}[31mred
  fix: Rename it to \`foo\`.

/elsewhere/50%, a:b/SKILL.md:3:14 warning field-unexpected
  100% of \\u{1b}[31mred ::error::injected
  fix: Remove it.

1 error    name-not-lowercase
1 warning  field-unexpected
2 skills checked: 1 error, 1 warning; 1 can be fixed with --fix
`);
});

test("prints fixed problems first", () => {
  const codes = ["yaml-unquoted-colon", "yaml-unquoted-colon"] as const;
  const fixed = [{ file: "/project/a/SKILL.md", codes }];
  const report = { ...exampleReport, problems: [], checked: 1, fixed, fixable: 0 };
  expect([...prettyReporter(report, exampleContext)].join("")).toBe(
    "fixed a/SKILL.md: yaml-unquoted-colon\n\n1 skill checked: no problems; 2 fixed\n",
  );
});

test("with colours, prints only its own escape sequences", () => {
  const text = [...prettyReporter(exampleReport, { ...exampleContext, paint: colourPaint })].join("");
  expect(text).toContain("\u001b[31merror\u001b[39m");
  expect(text).not.toContain("\u001b[31mred");
});

test("prints at most --max-problems problems, errors first; the summary counts all", () => {
  const [error, warning] = exampleReport.problems as [Problem, Problem];
  const report = { ...exampleReport, problems: [warning, error, { ...warning }] };
  const text = [...prettyReporter(report, { ...exampleContext, maxProblems: 2 })].join("");
  expect(text.match(/^\S.*:\d+:\d+ \w+/gm)).toEqual([
    expect.stringContaining("warning"),
    expect.stringContaining("error"),
  ]);
  expect(text.split("\n").slice(-6)).toEqual([
    "… and 1 more problem; show more with --max-problems",
    "",
    "1 error    name-not-lowercase",
    "2 warnings field-unexpected",
    expect.stringContaining("2 skills checked: 1 error, 2 warnings"),
    "",
  ]);
});
