import fc from "fast-check";
import { expect, test } from "vitest";
import {
  countJsonValues,
  hasTooManyValues,
  maxJsonDepth,
  maxJsonValues,
  maxRunValues,
  parseUntrustedJson,
} from "../../../src/base/json/json-value.ts";

function valuesOf(json: unknown): number {
  if (typeof json !== "object" || json === null) return 1;
  const inner = Object.values(json).map(valuesOf);
  const keys = Array.isArray(json) ? 0 : inner.length;
  return inner.reduce((sum, count) => sum + count, 1 + keys);
}

test("keys and values are counted, up to one more for each empty list or object", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      const counted = countJsonValues(Buffer.from(text));
      expect(counted).toBeGreaterThanOrEqual(valuesOf(value));
      expect(counted).toBeLessThanOrEqual(valuesOf(value) + text.length);
    }),
  );
});

test("what is inside a string is not counted, whatever it contains", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(countJsonValues(Buffer.from(JSON.stringify({ [text]: text })))).toBe(3);
    }),
  );
  expect(countJsonValues(Buffer.from(JSON.stringify(["\\", '"[{:,', '\\"'])))).toBe(4);
});

test("a document is refused above the limit, not at it, and not for being long", () => {
  const listOf = (length: number): Buffer => Buffer.from(JSON.stringify(Array(length).fill(7)));
  expect(hasTooManyValues(listOf(maxJsonValues - 1))).toBe(false);
  expect(hasTooManyValues(listOf(maxJsonValues))).toBe(true);
  expect(hasTooManyValues(Buffer.from(JSON.stringify(",".repeat(maxJsonValues * 2))))).toBe(false);
});

test("untrusted JSON is parsed like JSON.parse, whatever brackets its strings have", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4, stringUnit: "binary" }), (value) => {
      const text = JSON.stringify(value);
      expect(parseUntrustedJson(Buffer.from(text))).toEqual(JSON.parse(text));
    }),
  );
  for (const text of ['["[[\\"[{"]', '"\\\\"', '{"__proto__":{"x":1}}'])
    expect(parseUntrustedJson(Buffer.from(text), 2)).toStrictEqual(JSON.parse(text));
});

test("untrusted JSON with too many keys and values is a SyntaxError; those in strings do not count", () => {
  const listOf = (length: number): Buffer => Buffer.from(`[${"0,".repeat(length - 1)}0]`);
  expect(parseUntrustedJson(listOf(maxRunValues))).toHaveLength(maxRunValues);
  expect(() => parseUntrustedJson(listOf(maxRunValues + 1))).toThrow(
    /^The value has more than 1000000 keys and values/,
  );
  expect(parseUntrustedJson(Buffer.from(JSON.stringify(",:".repeat(maxRunValues))))).toHaveLength(2 * maxRunValues);
});

test("untrusted JSON that is nested too deeply, or invalid, is a SyntaxError", () => {
  const nested = (depth: number): Buffer => Buffer.from("[".repeat(depth) + "]".repeat(depth));
  expect(parseUntrustedJson(nested(maxJsonDepth))).toEqual(JSON.parse(nested(maxJsonDepth).toString()));
  for (const bytes of [nested(maxJsonDepth + 1), nested(1_000_000), Buffer.from('["["'), Buffer.from("NaN")])
    expect(() => parseUntrustedJson(bytes)).toThrow(SyntaxError);
});
