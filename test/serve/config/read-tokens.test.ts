import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { tokenFault } from "../../../src/serve/read-config.ts";

test("tokens of 128 random bits are accepted, however they are written", () => {
  fc.assert(
    fc.property(fc.integer({ min: 16, max: 64 }), fc.constantFrom("hex", "base64url"), (length, encoding) => {
      const token = randomBytes(length).toString(encoding);
      expect(tokenFault(token, "path")).toBeUndefined();
      expect(tokenFault(token, "header")).toBeUndefined();
    }),
  );
});

test.each([
  ["", "is empty"],
  ["a b", "other than printable ASCII"],
  ["ä".repeat(40), "other than printable ASCII"],
  ["0123456789abcdef0123456789abcde", "at most 124 bits"],
  ["aB3_-kQ9zXw7LmN2pR5tV", "at most 126 bits"],
  ["123456789012345678901234567890", "at most 99 bits"],
  ["password", "at most 37 bits"],
  ["a".repeat(100), "fewer than 8 different characters"],
  ["aB3".repeat(400), "longer than 512 characters"],
])("%s is refused", (token, why) => {
  expect(tokenFault(token, "header")).toContain(why);
});

test("a token of a path has only characters that a path keeps", () => {
  expect(tokenFault("aB3_-kQ9zXw7LmN2pR5tVabc/", "path")).toContain("other than letters");
  expect(tokenFault("aB3_-kQ9zXw7LmN2pR5tVabc/", "header")).toBeUndefined();
});
