import { expect, test } from "vitest";
import { createKeyRanges } from "../../../../src/skills/manifest/yaml/yaml-keys.ts";

test.each([
  ["name: x\n", "name", undefined, 6],
  ["a: b\nname:   x\n", "name", undefined, 13],
  ["a: b\nname:\n  - x\n", "name", undefined, 5],
  ["a: name: b\n'name': x\n", "name", undefined, 19],
  ["a: b\n", "name", undefined, 0],
  ["m:\n  a: 1\n  b:\n    c: d\n", "m", "b", 12],
  ["m: {a: x, b: [1]}\n", "m", "b", 10],
  ["metadata:\n  a:\n    b: x\n  b:\n    c: y\n", "metadata", "b", 26],
  ["metadata: {a: x, 'b': [1]}\n", "metadata", "b", 17],
  ["metadata: {a, b: [1], b: 2}\n", "metadata", "b", 14],
  ["metadata:\n\n  # b: x\n    a: 1\n    b: 2\n", "metadata", "b", 33],
  ["metadata:\n  a: 1\nb:\n  c: 2\n", "metadata", "c", 0],
  ["a:b: x\n", "a:b", undefined, 5],
  ["# name: y\r\nname: x\r\n", "name", undefined, 17],
  ["name", "name", undefined, 0],
  ["a.b*: x\n", "a.b*", undefined, 6],
])("in %j the value of key %s (%s) is at offset %d", (text, key, child, offset) => {
  expect(createKeyRanges(text)(key, "value", child).offset).toBe(offset);
});

test.each([
  ["a: b\nname:   x y \nb: c\n", "name", "value", "x y"],
  ["name: x\n  y\n# z\nb: c\n", "name", "key", "name"],
  ["name:\n  x: y\n", "name", "value", "name"],
  ["'na me': x\n", "na me", "key", "'na me'"],
  ["name: |\n  x\n  y\n\nb: c\n", "name", "value", "|\n  x\n  y"],
] as const)("in %j the range of %s (%s) is %j", (text, key, part, expected) => {
  const { offset, end } = createKeyRanges(text)(key, part);
  expect(text.slice(offset, end)).toBe(expected);
});
