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
