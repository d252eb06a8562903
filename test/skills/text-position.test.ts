import { expect, test } from "vitest";
import { keyOffset, textPosition } from "../../src/skills/text-position.ts";
import { tomlPosition } from "../../src/skills/toml-position.ts";

test.each([
  ["abc", 0, 1, 1],
  ["abc", 2, 1, 3],
  ["a\nb", 2, 2, 1],
  ["a\r\nb", 3, 2, 1],
  ["a\rb", 2, 2, 1],
  ["😀a", 2, 1, 2],
  ["a\n", 2, 2, 1],
  ["", 0, 1, 1],
])("in %j the offset %d is line %d, column %d", (text, offset, line, column) => {
  expect(textPosition(text, offset)).toEqual({ line, column });
});

test.each([
  ["name: x\n", "name", undefined, 6],
  ["a: b\nname:   x\n", "name", undefined, 13],
  ["a: b\nname:\n  - x\n", "name", undefined, 5],
  ["a: name: b\n'name': x\n", "name", undefined, 19],
  ["a: b\n", "name", undefined, 0],
  ["m:\n  a: 1\n  b:\n    c: d\n", "m", "b", 12],
  ["m: {a: x, b: [1]}\n", "m", "b", 10],
  ["name", "name", undefined, 0],
  ["a.b*: x\n", "a.b*", undefined, 6],
])("in %j the key %s (%s) is found at %d", (text, key, child, offset) => {
  expect(keyOffset(text, key, child)).toBe(offset);
});

const toml = [
  'name = "a" # x = 1',
  "",
  "[inputs.sheet]",
  'type = "blob"',
  "",
  "[inputs]",
  'row = { type = "integer", required = true }',
  'text = """',
  'type = "no"',
  '"""',
  "[permissions]",
  '  network = ["😀"]',
].join("\r\n");

test.each([
  [["name"], 1, 8],
  [["version"], 1, 1],
  [["inputs", "sheet", "type"], 4, 8],
  [["inputs", "sheet", "missing"], 3, 1],
  [["inputs", "row", "required"], 7, 38],
  [["permissions", "network", 0], 12, 13],
  [["type"], 1, 1],
])("in TOML the value at %j stands in line %d, column %d", (path, line, column) => {
  expect(tomlPosition(toml, path)).toEqual({ line, column });
});
