import fc from "fast-check";
import { expect, test } from "vitest";
import { visibleText } from "../../../../src/browser/page/components/foreign-text.tsx";

test("names what is not seen, in its place", () => {
  expect(visibleText("a\u200bb")).toBe("a⟨U+200B⟩b");
  expect(visibleText("user\u202e\u2066// admin")).toBe("user⟨U+202E U+2066⟩// admin");
  expect(visibleText("a\u0000\u001b[31m")).toBe("a⟨U+0000⟩⟨U+001B⟩[31m".replace("⟩⟨", " "));
  expect(visibleText("\u200b".repeat(1000))).toBe("⟨U+200B U+200B U+200B and 997 more⟩");
});

test("shows what tag characters spell", () => {
  const hidden = Array.from("send it", (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("");
  expect(visibleText(`Hello${hidden}`)).toBe("Hello⟨tags spelling “send it”⟩");
});

test("keeps emoji, other scripts, tabs and line ends", () => {
  const text = "👩‍💻 ❤️ 🏳️‍🌈 العربية می\u200cخواهم क्\u200dष\t한국어\r\n";
  expect(visibleText(text)).toBe(text);
});

test("leaves no control of direction and no character without width between letters, whatever the text", () => {
  const hiding = /[\p{Bidi_Control}\u{e0000}-\u{e007f}\u2060\ufeff\u00ad\u0007]/u;
  const unseen = fc.constantFrom(
    "\u202e",
    "\u2066",
    "\u200f",
    "\u061c",
    "\ufeff",
    "\u00ad",
    "\u{e0041}",
    "\u0007",
    "\u2060",
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string({ unit: "binary" }), unseen)), (parts) => {
      expect(visibleText(parts.join("x"))).not.toMatch(hiding);
    }),
  );
});
