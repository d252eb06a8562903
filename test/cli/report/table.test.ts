import fc from "fast-check";
import { expect, test } from "vitest";
import { cutToWidth, displayWidth, padToWidth, table } from "../../../src/cli/report/columns.ts";
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
