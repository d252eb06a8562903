import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codeFrame } from "../../../src/cli/report/code-frame.ts";
import { displayWidth } from "../../../src/cli/report/columns.ts";
import { plainPaint } from "../../../src/cli/report/terminal.ts";

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
