import fc from "fast-check";
import { expect, test } from "vitest";
import { type ParsedJson, TooDeep, parseUntrustedJson, writeJson } from "../../../src/base/json/untrusted-json.ts";

/** The parsed value, and how often the parser yielded. */
function parse(text: string | Buffer, deepest = 201): ParsedJson & { readonly pauses: number } {
  const steps = parseUntrustedJson(Buffer.from(text), deepest);
  for (let pauses = 0; ; pauses++) {
    const step = steps.next();
    if (step.done) return { ...step.value, pauses };
  }
}

const blanks = fc.constantFrom("", " ", "\n\t", "\r\n ");

test("parses valid JSON like JSON.parse", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 3, stringUnit: "binary" }), blanks, (text, blank) => {
      expect(parse(blank + text + blank).value).toStrictEqual(JSON.parse(text));
      const spaced = JSON.stringify(JSON.parse(text), null, 2);
      expect(parse(spaced).value).toStrictEqual(JSON.parse(text));
    }),
  );
});

test("rejects invalid JSON exactly where JSON.parse does", () => {
  const token = fc.constantFrom(
    ...'{}[],:"\\'.split(""),
    "1",
    "-",
    "0",
    ".5",
    "e1",
    "true",
    "nul",
    '"a"',
    " ",
    "\n",
    "\\u00",
    "é",
  );
  fc.assert(
    fc.property(
      fc.array(token, { maxLength: 8 }).map((tokens) => tokens.join("")),
      (text) => {
        let expected: unknown;
        try {
          expected = { value: JSON.parse(text) as unknown };
        } catch {
          expect(() => parse(text)).toThrow(SyntaxError);
          return;
        }
        expect({ value: parse(text).value }).toStrictEqual(expected);
      },
    ),
    { numRuns: 1_000 },
  );
});

test.each(['{"a":"\\ud83d\\ude00"}', '"\\ud800"', '{"__proto__":{"x":1}}', '{"a":1,"a":2}', '"\\u0000"', "-0", "1E+2"])(
  "parses %s like JSON.parse",
  (text) => {
    expect(parse(text).value).toStrictEqual(JSON.parse(text));
  },
);

test("parses long strings in chunks, whatever the chunk boundary splits", () => {
  for (const unit of ["a", "é", "😀", '\\"', "\\\\", "\\u00e9", "\\ud83d\\ude00", "\\n"]) {
    for (const before of ["", "x", "xx", "xxx", "xxxxx"]) {
      const text = `"${before}${unit.repeat(40_000)}"`;
      const { value, pauses } = parse(text);
      expect(value).toBe(JSON.parse(text));
      expect(pauses).toBe(Math.floor(Buffer.byteLength(text) / 65_540));
    }
  }
  expect(() => parse(`"${"a".repeat(70_000)}\n"`)).toThrow(SyntaxError);
});

test("turns infinite numbers into null and measures numbers that become longer", () => {
  expect(parse("[1e999,-1e999,1]")).toMatchObject({ value: [null, null, 1], growth: 0 });
  expect(parse("[1e20,1.0,100]")).toMatchObject({ value: [1e20, 1, 100], growth: 17 });
});

test("enforces the maximum depth without recursion", () => {
  const nested = (depth: number, open: string, close: string): string => open.repeat(depth) + "1" + close.repeat(depth);
  for (const [open, close] of [
    ["[", "]"],
    ['{"a":', "}"],
  ] as const) {
    expect(parse(nested(200, open, close), 200).value).toStrictEqual(JSON.parse(nested(200, open, close)));
    expect(() => parse(nested(201, open, close), 200)).toThrow(TooDeep);
    expect(() => parse(nested(1_000_000, open, close), 200)).toThrow(TooDeep);
    expect(parse(nested(100_000, open, close), 1_000_000).pauses).toBeGreaterThanOrEqual(200);
  }
  try {
    parse(`{"type":"returned","value":${nested(300, "[", "]")}}`);
  } catch (error) {
    expect((error as TooDeep).begun).toEqual({ type: "returned" });
  }
});

test.each([
  ["numbers", "1"],
  ["lists", "[]"],
  ["texts", '"x"'],
  ["objects", '{"a":1}'],
])("yields repeatedly while parsing many %s", (_what, item) => {
  const { pauses } = parse(`[${`${item},`.repeat(100_000)}1]`);
  expect(pauses).toBeGreaterThanOrEqual(200);
});

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
