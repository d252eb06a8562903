import fc from "fast-check";
import { expect, test } from "vitest";
import { cutToWidth, displayWidth, padToWidth } from "../../../src/cli/report/display-width.ts";

test.each([
  ["plain", 5],
  ["文字", 4],
  ["e\u0301", 1],
  ["👩‍👩‍👧", 2],
  ["한국어", 6],
  ["ｆｕｌｌ", 8],
  ["☂️", 2],
  ["\u200b", 0],
])("%s takes %i columns", (text, columns) => {
  expect(displayWidth(text)).toBe(columns);
});

test("text is cut by columns, with an ellipsis, and never inside a character", () => {
  expect(cutToWidth("description", 11)).toBe("description");
  expect(cutToWidth("description", 6)).toBe("descr…");
  expect(cutToWidth("文字文字", 6)).toBe("文字…");
  expect(cutToWidth("文字文字", 7)).toBe("文字文…");
  expect(cutToWidth("a👩‍👩‍👧b", 3)).toBe("a…");
});

test("cut text never takes more than the columns given", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.nat(30), (text, columns) => {
      expect(displayWidth(cutToWidth(text, columns))).toBeLessThanOrEqual(columns);
    }),
  );
});

test("text is padded to columns, not to characters", () => {
  expect(padToWidth("文", 4)).toBe("文  ");
});
