import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeMessage } from "../../src/acp/emission.ts";

test("encodes a message like JSON.stringify, with and without the cache", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (message) => {
      const line = `${JSON.stringify(message)}\n`;
      expect(encodeMessage(message).toString()).toBe(line);
      expect(encodeMessage(message).toString()).toBe(line);
    }),
  );
});

test("handles undefined values like JSON.stringify", () => {
  const message = { a: undefined, b: [undefined, { c: undefined }] };
  expect(encodeMessage(message).toString()).toBe(`${JSON.stringify(message)}\n`);
});
