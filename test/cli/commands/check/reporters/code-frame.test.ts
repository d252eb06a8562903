import fc from "fast-check";
import { expect, test } from "vitest";
import { codeFrame } from "../../../../../src/cli/commands/check/reporters/code-frame.ts";
import { plainPaint } from "../../../../../src/cli/report/colour.ts";
import { displayWidth } from "../../../../../src/cli/report/display-width.ts";

function frame(lines: readonly string[], line: number, column: number, columns = 80): string[] {
  return codeFrame({ line, column, sourceLine: (number) => lines[number - 1] }, columns, plainPaint);
}

test("the caret stands under the column, between the lines about it", () => {
  expect(frame(["---", "name: Foo", "description: x"], 2, 7)).toEqual([
    "  1 | ---",
    "> 2 | name: Foo",
    "    |       ^",
    "  3 | description: x",
  ]);
});

test("columns count code points, the caret counts display columns", () => {
  expect(frame(["名前: 😀x"], 1, 6)).toEqual(["> 1 | 名前: 😀x", "    |         ^"]);
});

test("control characters in the source are shown, and the caret still points at its character", () => {
  expect(frame(["a\u001bb!"], 1, 4)).toEqual(["> 1 | a\\u{1b}b!", "    |         ^"]);
});

test("a long line shows the part about the column", () => {
  const rows = frame([`${"x".repeat(500)}!${"y".repeat(500)}`], 1, 501, 40);
  const [line = "", caret = ""] = rows;
  expect(line[caret.indexOf("^")]).toBe("!");
  expect(line.length).toBeLessThanOrEqual(40);
});

test("carets are under the whole span, as far as its line and the terminal go", () => {
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

test("a line that does not exist has no frame", () => {
  expect(frame([], 1, 1)).toEqual([]);
});

test("no frame is wider than the terminal, and the caret stays inside it", () => {
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
