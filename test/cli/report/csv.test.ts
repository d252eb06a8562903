import fc from "fast-check";
import { expect, test } from "vitest";
import { csv } from "../../../src/cli/report/csv.ts";

function lines(...rows: readonly (readonly string[])[]): string {
  return [...csv(["a", "b"], rows)].join("");
}

test("cells with commas, quotes and blanks are quoted, and lines end with CR LF", () => {
  expect(lines(["MIT", 'say "x", y'], ["", "z"])).toBe('a,b\r\nMIT,"say ""x"", y"\r\n,z\r\n');
});

test("a cell that a spreadsheet would calculate begins with an apostrophe", () => {
  const cells = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1"];
  for (const cell of cells) expect(lines([cell, ""])).toMatch(/^a,b\r\n"?'/);
});

test("line breaks and commands to terminals do not reach the output", () => {
  expect(lines(["a\nb", "\u001b[31m"])).toBe('a,b\r\n"a b",\\u{1b}[31m\r\n');
});

test("every row is one record of as many cells, none of them a formula", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string({ unit: "binary" }), fc.string()), { maxLength: 4 }), (rows) => {
      const records = parse(lines(...rows)).slice(1);
      expect(records.map((record) => record.length)).toEqual(rows.map(() => 2));
      for (const cell of records.flat()) expect(cell).not.toMatch(/^\s*[=+\-@]/);
    }),
  );
});

/** Reads RFC 4180. */
function parse(text: string): string[][] {
  return text
    .split("\r\n")
    .slice(0, -1)
    .map((line) => {
      const cells = line.match(/(?:"(?:[^"]|"")*"|[^",]*)(?:,|$)/g) ?? [];
      const kept = line.endsWith(",") ? cells : cells.slice(0, -1);
      return kept.map((cell) =>
        cell.replace(/,$/, "").replace(/^"([^]*)"$/, (_whole, text: string) => text.replaceAll('""', '"')),
      );
    });
}
