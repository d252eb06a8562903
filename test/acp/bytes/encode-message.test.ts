import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeMessage } from "../../../src/acp/bytes/encode-message.ts";

test("a message is the line that JSON.stringify gives, the first time and again", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (message) => {
      const line = `${JSON.stringify(message)}\n`;
      expect(encodeMessage(message).toString()).toBe(line);
      expect(encodeMessage(message).toString()).toBe(line);
    }),
  );
});

test("what is undefined is left out, as JSON.stringify does", () => {
  const message = { a: undefined, b: [undefined, { c: undefined }] };
  expect(encodeMessage(message).toString()).toBe(`${JSON.stringify(message)}\n`);
});
