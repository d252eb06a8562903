import { expect, test } from "vitest";
import { plainPaint } from "../../../src/cli/report/colour.ts";
import { table } from "../../../src/cli/report/table.ts";

const heading = ["NAME", "DESCRIPTION"];
const rows = [
  ["pdf", "Reads and writes PDF files, page by page"],
  ["文書", "日本語の文書を作る。長い説明が続く。とても長い説明。"],
];

test("aligns columns and truncates the last one at the width of the terminal", () => {
  expect([...table(heading, rows, 30, plainPaint)]).toEqual([
    "NAME  DESCRIPTION\n",
    "pdf   Reads and writes PDF fi…\n",
    "文書  日本語の文書を作る。長…\n",
  ]);
});

test("truncates nothing without a terminal", () => {
  expect([...table(heading, rows, undefined, plainPaint)].join("")).toContain("とても長い説明。\n");
});

test("shows part of the last column on a narrow terminal", () => {
  expect([...table(heading, rows, 8, plainPaint)][1]).toBe("pdf   Reads and writes PD…\n");
});
