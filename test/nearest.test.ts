import { expect, test } from "vitest";
import { nearest } from "../src/nearest.ts";

const names = ["pdf", "docx-reports", "commit-message", "commit-review"];

test("misspelt names find the ones with the fewest edits, best first", () => {
  expect(nearest("comit-mesage", names)).toEqual(["commit-message"]);
  expect(nearest("commit-reveiw", names, 3)).toEqual(["commit-review"]);
  expect(nearest("PDF", names)).toEqual(["pdf"]);
});

test("a part of a name finds it", () => {
  expect(nearest("commit", names, 3)).toEqual(["commit-message", "commit-review"]);
});

test("nothing close means no name", () => {
  expect(nearest("zebra", names, 3)).toEqual([]);
  expect(nearest("", names, 3)).toEqual([]);
});
