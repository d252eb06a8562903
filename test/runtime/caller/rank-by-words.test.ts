import { expect, test } from "vitest";
import { rankByWords, toQueryWords } from "../../../src/runtime/caller/rank-by-words.ts";

const skill = { name: "rows.clean", tags: ["csv"], description: "Removes empty lines." };
const rank = (query: string): number => rankByWords(skill, toQueryWords(query));

test("more words outweigh better matches, and names outweigh tags and descriptions", () => {
  const ranks = ["csv lines", "rows", "csv", "lines", "zebra"].map(rank);
  expect(ranks).toEqual([...ranks].sort((a, b) => b - a));
  expect(new Set(ranks).size).toBe(ranks.length);
  expect(rank("zebra")).toBe(0);
});

test("a query is its words, in lower case, each once", () => {
  expect(toQueryWords("Rows, rows & CSV-files")).toEqual(["rows", "csv", "files"]);
  expect(toQueryWords("…")).toEqual([]);
});
