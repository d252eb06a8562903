import fc from "fast-check";
import { expect, it } from "vitest";
import { byCodePoint } from "../../../src/skills/text/code-point-order.ts";

it("orders text as its UTF-8 bytes are ordered", () => {
  const text = fc.string({ unit: "grapheme" });
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(byCodePoint(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});

it("puts characters beyond U+FFFF after all others, where UTF-16 does not", () => {
  expect(["\u{1f600}", "\uffee", "a", "aa", ""].sort(byCodePoint)).toEqual(["", "a", "aa", "\uffee", "\u{1f600}"]);
});
