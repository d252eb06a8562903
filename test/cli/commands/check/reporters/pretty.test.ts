import { expect, test } from "vitest";
import { colourPaint } from "../../../../../src/cli/report/colour.ts";
import { prettyReporter } from "../../../../../src/cli/commands/check/reporters/pretty.ts";
import { exampleContext, exampleReport } from "./example-report.ts";

test("problems have a place, a code frame and a fix, then come the counts", () => {
  expect([...prettyReporter(exampleReport, exampleContext)].join(""))
    .toBe(`skills/foo/SKILL.md:2:7 error name-not-lowercase
  the name Foo is not lowercase
    1 | ---
  > 2 | name: Foo
      |       ^
    3 | description: 100%, \\u{1b}[31mred
  fix: Write it as foo.

/elsewhere/50%, a:b/SKILL.md:3:14 warning field-unexpected
  100% of \\u{1b}[31mred ::error::injected
  fix: Remove it.

2 skills checked: 1 error, 1 warning
`);
});

test("what was fixed is told first", () => {
  const report = {
    problems: [],
    checked: 1,
    counts: exampleReport.counts,
    fixed: [{ file: "/project/a/SKILL.md", codes: ["yaml-unquoted-colon" as const] }],
  };
  expect([...prettyReporter(report, exampleContext)].join("")).toBe(
    "fixed a/SKILL.md: yaml-unquoted-colon\n\n1 skill checked: no problems, 1 fixed\n",
  );
});

test("with colours, the only escape sequences are ours", () => {
  const text = [...prettyReporter(exampleReport, { ...exampleContext, paint: colourPaint })].join("");
  expect(text).toContain("\u001b[31merror\u001b[39m");
  expect(text).not.toContain("\u001b[31mred");
});
