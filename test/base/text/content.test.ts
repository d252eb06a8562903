import fc from "fast-check";
import { expect, test } from "vitest";
import { toContent } from "../../../src/base/text/content.ts";

const text = fc
  .string({ unit: fc.constantFrom("a", "é", "文", "😀", "\n", '"') })
  .map((value) => ({ value, bytes: Buffer.from(value) }));

test("uncut text is returned unchanged, uncut bytes as base64", () => {
  fc.assert(
    fc.property(text, ({ value, bytes }) => {
      expect(toContent(bytes)).toEqual({ content: value, encoding: "utf-8" });
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), (bytes) => {
      const { content, encoding } = toContent(bytes);
      expect(Buffer.from(content, encoding === "utf-8" ? "utf8" : "base64")).toEqual(Buffer.from(bytes));
    }),
  );
});

test("truncated text keeps whole characters and loses less than one per cut", () => {
  fc.assert(
    fc.property(text, fc.nat(), fc.nat(), ({ value, bytes }, one, two) => {
      const [start, end] = [one % (bytes.length + 1), two % (bytes.length + 1)].sort((a, b) => a - b) as [
        number,
        number,
      ];
      const cut = { start: start > 0, end: end < bytes.length };
      const { content, encoding } = toContent(bytes.subarray(start, end), cut);
      expect(encoding).toBe("utf-8");
      expect(content).not.toContain("\ufffd");
      expect(value).toContain(content);
      expect(end - start - Buffer.byteLength(content)).toBeLessThanOrEqual(3 * (Number(cut.start) + Number(cut.end)));
    }),
  );
});

test.each([
  ["a NUL", Buffer.from("a\0b")],
  ["an unexpected continuation", Buffer.from([0x61, 0x80, 0x62])],
  ["an incomplete character at the end of the file", Buffer.from("é").subarray(0, 1)],
  ["UTF-16", Buffer.from("text", "utf16le")],
  ["an encoded surrogate", Buffer.from([0xed, 0xa0, 0x80])],
])("%s is encoded as base64, byte for byte", (_name, bytes) => {
  for (const cut of [{}, { start: false, end: false }]) {
    expect(toContent(bytes, cut)).toEqual({ content: bytes.toString("base64"), encoding: "base64" });
  }
});

test("truncated binary data keeps every byte", () => {
  const bytes = Buffer.from([0xff, 0x00, 0xe6, 0x96]);
  expect(toContent(bytes, { start: true, end: true }).content).toBe(bytes.toString("base64"));
});

test.each([0xc0, 0xc1, 0xf5, 0xff])("the invalid byte %i does not count as a truncated character", (byte) => {
  const bytes = Buffer.from([0x61, byte]);
  expect(toContent(bytes, { end: true })).toEqual({ content: bytes.toString("base64"), encoding: "base64" });
});

test("a byte order mark is preserved", () => {
  expect(toContent(Buffer.from("\ufeffa")).content).toBe("\ufeffa");
});
