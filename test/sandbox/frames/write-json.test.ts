import fc from "fast-check";
import { expect, test } from "vitest";
import { writeJson } from "../../../src/sandbox/frames/write-json.ts";

/** The text, and how often the writer yielded. */
function write(value: unknown): { readonly text: string; readonly pauses: number } {
  const steps = writeJson(value);
  for (let pauses = 0; ; pauses++) {
    const step = steps.next();
    if (step.done) return { text: step.value.toString(), pauses };
  }
}

test("writes plain data like JSON.stringify", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4, stringUnit: "binary" }), (value) => {
      expect(write(value).text).toBe(JSON.stringify(value));
    }),
  );
});

test("omits undefined fields and writes undefined list items as null", () => {
  const value = { a: undefined, b: [undefined, { c: undefined }], d: "{" };
  expect(write(value).text).toBe(JSON.stringify(value));
});

test("yields repeatedly while writing long strings, long keys and many values", () => {
  const long = 'é😀"\\\ud800'.repeat(20_000);
  const value = { [long]: long, many: new Array<number[]>(50_000).fill([1]) };
  const { text, pauses } = write(value);
  expect(text === JSON.stringify(value)).toBe(true);
  expect(pauses).toBeGreaterThan(100);
});

test("writes deeply nested values without recursion", () => {
  let deep: unknown[] = [];
  for (let level = 0; level < 100_000; level++) deep = [deep];
  expect(write(deep).text).toHaveLength(200_002);
});
