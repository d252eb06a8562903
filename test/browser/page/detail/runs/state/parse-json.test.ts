import fc from "fast-check";
import { expect, test } from "vitest";
import { parseJsonInput } from "../../../../../../src/browser/page/detail/runs/state/parse-json.ts";

test("JSON is parsed as by JSON.parse", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
      expect(parseJsonInput(JSON.stringify(value, undefined, indent))).toEqual({
        value: JSON.parse(JSON.stringify(value)) as unknown,
      });
    }),
  );
});

test.each([
  ["", 1, 1, "a value"],
  ["[1,]", 1, 4, "a value"],
  ["[1 2]", 1, 4, "a comma or ]"],
  ['{"a" 1}', 1, 6, "a colon"],
  ['{\n  "a": 1,\n}', 3, 1, "a key in quotes"],
  ["{a: 1}", 1, 2, "a key in quotes or }"],
  ['{"a": "x}', 1, 7, "a value"],
  ['{"a": 01}', 1, 7, "a value"],
  ["[tru]", 1, 2, "a value or ]"],
  ["{} {}", 1, 4, "nothing more"],
  ['["a', 1, 2, "a value or ]"],
  ["[[[", 1, 4, "a value or ]"],
])("%j stops being JSON at its place", (text, line, column, expected) => {
  expect(parseJsonInput(text)).toEqual({ fault: { line, column, expected } });
});

test("a text that is no JSON has a fault in it, whatever it is", () => {
  const piece = fc.constantFrom("{", "}", "[", "]", ",", ":", '"a"', '"', "1", "-", "true", "nul", " ", "\n", "\\");
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const text = pieces.join("");
      const parsed = parseJsonInput(text);
      if ("value" in parsed) return;
      const { line, column } = parsed.fault;
      const lines = text.split("\n");
      expect(line).toBeLessThanOrEqual(lines.length);
      expect(column).toBeLessThanOrEqual((lines[line - 1]?.length ?? 0) + 1);
    }),
  );
});

test("deep nesting does not overflow the stack", () => {
  expect(parseJsonInput("[".repeat(200_000))).toMatchObject({ fault: { column: 200_001 } });
});
