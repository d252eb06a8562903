import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonDifferences, textDifference } from "../../../../src/runtime/runs/replay/json-differences.ts";
import type { Json } from "../../../../src/runtime/sandbox.ts";

const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as Json);
const differences = (one: Json | undefined, other: Json | undefined, limit = 20) =>
  jsonDifferences("output", one, other, limit);

/** The same value with the keys of all its objects in reverse order. */
function reversed(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(reversed);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reversed(item)]),
  );
}

/** JSON with sorted keys: equal texts for equal values. */
function canonical(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(",")}}`;
}

describe("the differences of two JSON values", () => {
  test("there are none if only the order of keys differs", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(differences(value, reversed(value))).toEqual([]);
      }),
    );
  });

  test("there are some exactly if their canonical texts differ, in either direction", () => {
    const changed = json.chain((value) => fc.tuple(fc.constant(value), fc.oneof(json, fc.constant(value))));
    fc.assert(
      fc.property(changed, ([one, other]) => {
        const isSame = canonical(one) === canonical(other);
        expect(differences(one, other).length === 0).toBe(isSame);
        expect(differences(other, one).length === 0).toBe(isSame);
      }),
    );
  });

  test("name each place by its pointer, with both values", () => {
    expect(differences({ a: [1, 2], "x/y~": true, gone: null }, { a: [1, 3, 4], "x/y~": false })).toEqual([
      { where: "output/a/1", before: "2", after: "3" },
      { where: "output/a/2", before: undefined, after: "4" },
      { where: "output/x~1y~0", before: "true", after: "false" },
      { where: "output/gone", before: "null", after: undefined },
    ]);
    expect(differences([1], { 0: 1 })).toEqual([{ where: "output", before: "[1]", after: '{"0":1}' }]);
    expect(differences(undefined, null)).toEqual([{ where: "output", before: undefined, after: "null" }]);
  });

  test("see keys called __proto__", () => {
    const [one, other] = ['{"__proto__":1}', '{"__proto__":2}'].map((text) => JSON.parse(text) as Json);
    expect(differences(one, other)).toEqual([{ where: "output/__proto__", before: "1", after: "2" }]);
  });

  test("are at most as many as asked for, and each is short", () => {
    const long = (letter: string) => Array.from({ length: 1_000 }, () => letter.repeat(10_000));
    const found = differences(long("a"), long("b"), 5);
    expect(found).toHaveLength(5);
    for (const { before = "" } of found) expect(before.length).toBeLessThanOrEqual(120);
  });

  test("of values as deep as a result can be are found", () => {
    const deep = (leaf: Json): Json => Array.from({ length: 200 }).reduce<Json>((inner) => [inner], leaf);
    expect(differences(deep(1), deep(2))).toEqual([{ where: `output${"/0".repeat(200)}`, before: "1", after: "2" }]);
  });
});

describe("the difference of two texts", () => {
  test("is the first line that differs", () => {
    expect(textDifference("logs", "a\nb\nc\n", "a\nx\ny\n")).toEqual({
      where: "logs line 2",
      before: '"b"',
      after: '"x"',
    });
    expect(textDifference("logs", "a\n", "a\nb\n")).toEqual({ where: "logs line 2", before: '""', after: '"b"' });
    expect(textDifference("logs", "a\nb", "a")).toEqual({ where: "logs line 2", before: '"b"', after: undefined });
  });

  test("shows long lines from shortly before their difference", () => {
    const same = "=".repeat(1_000);
    const { before, after } = textDifference("logs", `${same}one`, `${same}two`);
    expect([before, after]).toEqual([`"…${"=".repeat(20)}one"`, `"…${"=".repeat(20)}two"`]);
  });

  test("is one, whatever two different texts are", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "\n") });
    fc.assert(
      fc.property(text, text, (one, other) => {
        fc.pre(one !== other);
        const { before, after } = textDifference("logs", one, other);
        expect(before).not.toBe(after);
      }),
    );
  });
});
