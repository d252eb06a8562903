import fc from "fast-check";
import { expect, test } from "vitest";
import { safeText } from "../../src/cli/safe-text.ts";

test("escape sequences are shown, not obeyed", () => {
  expect(safeText("\u001b[2Jgone\u0007 \u009b31mred \u007f")).toBe("\\u{1b}[2Jgone\\u{7} \\u{9b}31mred \\u{7f}");
});

test("line ends and tabs become blanks", () => {
  expect(safeText("one\r\ntwo\nthree\tfour\u2028five")).toBe("one two three four five");
});

test("marks that turn the direction of text are shown", () => {
  expect(safeText("user\u202etxt.exe")).toBe("user\\u{202e}txt.exe");
});

test("ordinary text in any script stays as it is", () => {
  expect(safeText("naïve 文字 👩‍👩‍👧 é")).toBe("naïve 文字 👩‍👩‍👧 é");
});

test("whatever goes in, no control character comes out", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(safeText(text)).not.toMatch(/[\p{Cc}\p{Cs}]/u);
    }),
  );
});
