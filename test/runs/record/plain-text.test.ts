import fc from "fast-check";
import { expect, test } from "vitest";
import { toLongPlainText, toPlainText, toPreview } from "../../../src/runs/record/plain-text.ts";

test("removes control sequences, and keeps line breaks and tabs", () => {
  expect(toPlainText("a\tb\r\nc\rd\u001b[31mred\u001b[0m\u001b]0;title\u0007e\u0000\u009b2J\u202ef")).toBe(
    "a\tb\nc\ndrede" + "2Jf".slice(2),
  );
});

test("no control character is left, whatever the input", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
      expect(toPlainText(text)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    }),
  );
});

test("a preview has head and tail in whole characters, within the limit", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 300 }).filter((some) => !some.includes("\ufffd"));
  fc.assert(
    fc.property(text, fc.integer({ min: 60, max: 200 }), (text, limit) => {
      const preview = toPreview(text, limit);
      expect(Buffer.byteLength(preview)).toBeLessThanOrEqual(limit);
      expect(preview).not.toContain("\ufffd");
      if (Buffer.byteLength(text) <= limit) expect(preview).toBe(text);
      else {
        const [head = "", tail = ""] = preview.split(/\n… \d+ bytes in total …\n/);
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
      }
    }),
  );
});

test("processing in slices gives the same as processing at once", async () => {
  for (const unit of ["\u001b[31mred\u001b[0m ", "a\r\n", "\u009b2J😀", "\u001b]0;title\u0007x", "\u001b(B"]) {
    for (const before of ["", "1", "12", "123", "1234567"]) {
      const text = before + unit.repeat(20_000);
      expect((await toLongPlainText(Buffer.from(text))) === toPlainText(text), JSON.stringify(before + unit)).toBe(
        true,
      );
    }
  }
});

test("matching takes linear time", () => {
  // The regular expression of Node took half a minute for each of some of these.
  for (const unit of [";?", ";", "?", "1;", "\u001b]", "\u009d", "\u001b", "\u001b[", "[", " "]) {
    expect(toPlainText("\u001b" + unit.repeat(500_000))).not.toContain("\u001b");
  }
});
