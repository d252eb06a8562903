import fc from "fast-check";
import { expect, it } from "vitest";
import { byCodePoint } from "../../../src/base/text/code-points.ts";

it("sorts text in the order of its UTF-8 bytes", () => {
  const text = fc.string({ unit: "grapheme" });
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(byCodePoint(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});

it("sorts characters above U+FFFF after all others, unlike UTF-16 order", () => {
  expect(["\u{1f600}", "\uffee", "a", "aa", ""].sort(byCodePoint)).toEqual(["", "a", "aa", "\uffee", "\u{1f600}"]);
});
