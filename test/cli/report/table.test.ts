import fc from "fast-check";
import { expect, test } from "vitest";
import { cutToWidth, displayWidth, padToWidth, table, csv } from "../../../src/cli/report/table.ts";
import { plainPaint } from "../../../src/cli/report/terminal.ts";

test.each([
  ["plain", 5],
  ["文字", 4],
  ["e\u0301", 1],
  ["👩‍👩‍👧", 2],
  ["한국어", 6],
  ["ｆｕｌｌ", 8],
  ["☂️", 2],
  ["\u200b", 0],
])("the display width of %s is %i", (text, columns) => {
  expect(displayWidth(text)).toBe(columns);
});

test("truncates by columns with an ellipsis, never inside a character", () => {
  expect(cutToWidth("description", 11)).toBe("description");
  expect(cutToWidth("description", 6)).toBe("descr…");
  expect(cutToWidth("文字文字", 6)).toBe("文字…");
  expect(cutToWidth("文字文字", 7)).toBe("文字文…");
  expect(cutToWidth("a👩‍👩‍👧b", 3)).toBe("a…");
});

test("truncated text never exceeds the given width", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.nat(30), (text, columns) => {
      expect(displayWidth(cutToWidth(text, columns))).toBeLessThanOrEqual(columns);
    }),
  );
});

test("pads by columns, not by characters", () => {
  expect(padToWidth("文", 4)).toBe("文  ");
});

const heading = ["NAME", "DESCRIPTION"];
const rows = [
  ["pdf", "Reads and writes PDF files, page by page"],
  ["文書", "日本語の文書を作る。長い説明が続く。とても長い説明。"],
];

test("aligns columns and truncates the last one at the width of the terminal", () => {
  expect([...table(heading, rows, { columns: 30, paint: plainPaint })]).toEqual([
    "NAME  DESCRIPTION\n",
    "pdf   Reads and writes PDF fi…\n",
    "文書  日本語の文書を作る。長…\n",
  ]);
});

test("truncates nothing without a terminal", () => {
  expect([...table(heading, rows, { columns: undefined, paint: plainPaint })].join("")).toContain("とても長い説明。\n");
});

test("shows part of the last column on a narrow terminal", () => {
  expect([...table(heading, rows, { columns: 8, paint: plainPaint })][1]).toBe("pdf   Reads and writes PD…\n");
});

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
