import { expect, test, describe } from "vitest";
import fc from "fast-check";
import { prettyReporter, codeFrame } from "../../../src/cli/report/problem-report.ts";
import { colourPaint, plainPaint } from "../../../src/cli/report/terminal.ts";
import type { Problem } from "../../../src/skills/rules/problem.ts";
import { exampleContext, exampleReport } from "../commands/authoring/check/example-report.ts";
import { displayWidth } from "../../../src/cli/report/table.ts";

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

describe("the code frame", () => {
  function frame(lines: readonly string[], line: number, column: number, columns = 80): string[] {
    return codeFrame({ line, column, sourceLine: (number) => lines[number - 1] }, columns, plainPaint);
  }

  test("puts the caret under the column, between the surrounding lines", () => {
    expect(frame(["---", "name: Foo", "description: x"], 2, 7)).toEqual([
      "  1 | ---",
      "> 2 | name: Foo",
      "    |       ^",
      "  3 | description: x",
    ]);
  });

  test("converts a column in code points to display columns", () => {
    expect(frame(["名前: 😀x"], 1, 6)).toEqual(["> 1 | 名前: 😀x", "    |         ^"]);
  });

  test("escapes control characters without misplacing the caret", () => {
    expect(frame(["a\u001bb!"], 1, 4)).toEqual(["> 1 | a\\u{1b}b!", "    |         ^"]);
  });

  test("shows the part of a long line around the column", () => {
    const rows = frame([`${"x".repeat(500)}!${"y".repeat(500)}`], 1, 501, 40);
    const [line = "", caret = ""] = rows;
    expect(line[caret.indexOf("^")]).toBe("!");
    expect(line.length).toBeLessThanOrEqual(40);
  });

  test("puts carets under the whole span, up to the end of the line and the width of the terminal", () => {
    const mark = (text: string, column: number, endColumn: number, columns = 80): string =>
      codeFrame(
        { line: 1, column, endColumn, sourceLine: (at) => (at === 1 ? text : undefined) },
        columns,
        plainPaint,
      )[1] ?? "";
    expect(mark("name: Foo  ", 7, 10)).toBe("    |       ^^^");
    expect(mark("name: 名😀  ", 7, Infinity)).toBe("    |       ^^^^");
    expect(mark("x".repeat(99), 1, 100, 40)).toBe(`    | ${"^".repeat(32)}`);
    expect(mark("name: Foo", 7, 7)).toBe("    |       ^");
  });

  test("returns no frame for a line that does not exist", () => {
    expect(frame([], 1, 1)).toEqual([]);
  });

  test("is never wider than the terminal", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", maxLength: 300 }),
        fc.nat(300),
        fc.integer({ min: 30, max: 120 }),
        (text, at, columns) => {
          const column = Math.min(at, Array.from(text).length) + 1;
          for (const row of frame([text], 1, column, columns)) expect(displayWidth(row)).toBeLessThanOrEqual(columns);
        },
      ),
    );
  });
});
