import fc from "fast-check";
import { expect, test } from "vitest";
import { createTextPositions } from "../../../src/base/text/text-positions.ts";

test.each([
  ["abc", 0, 1, 1],
  ["abc", 2, 1, 3],
  ["a\nb", 2, 2, 1],
  ["a\r\nb", 3, 2, 1],
  ["a\rb", 2, 2, 1],
  ["😀a", 2, 1, 2],
  ["a\n", 2, 2, 1],
  ["", 0, 1, 1],
])("in %j the offset %d is line %d, column %d", (text, offset, line, column) => {
  expect(createTextPositions(text)(offset)).toEqual({ line, column });
});

test("returns the same positions for offsets in any order", () => {
  const piece = fc.constantFrom("a", "\n", "\r", "\r\n", "😀", " ");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.array(fc.nat(30)), (pieces, counts) => {
      const text = pieces.join("");
      const positionOf = createTextPositions(text);
      for (const count of counts) {
        const offset = pieces.slice(0, count).join("").length;
        expect(positionOf(offset)).toEqual(createTextPositions(text)(offset));
      }
    }),
  );
});
