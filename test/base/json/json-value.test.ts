import fc from "fast-check";
import { expect, test } from "vitest";
import { countJsonValues, hasTooManyValues, maxJsonValues } from "../../../src/base/json/json-value.ts";

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
