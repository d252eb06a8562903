import fc from "fast-check";
import { expect, test } from "vitest";
import { toPlainText, toPreview } from "../../../src/tools/runs/plain-text.ts";

test("nothing that steers a terminal is left, and line breaks and tabs are", () => {
  expect(toPlainText("a\tb\r\nc\rd\u001b[31mred\u001b[0m\u001b]0;title\u0007e\u0000\u009b2J\u202ef")).toBe(
    "a\tb\nc\ndrede" + "2Jf".slice(2),
  );
});

test("whatever goes in, no control character comes out", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
      expect(toPlainText(text)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    }),
  );
});

test("a preview is both ends, whole characters, and never longer than it may be", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 300 }).filter((some) => !some.includes("\ufffd"));
  fc.assert(
    fc.property(text, fc.integer({ min: 60, max: 200 }), (text, limit) => {
      const preview = toPreview(text, limit);
      expect(Buffer.byteLength(preview)).toBeLessThanOrEqual(limit);
      expect(preview).not.toContain("\ufffd");
      if (Buffer.byteLength(text) <= limit) expect(preview).toBe(text);
      else {
        const [head = "", tail = ""] = preview.split(/\n… \d+ bytes in all …\n/);
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
      }
    }),
  );
});
