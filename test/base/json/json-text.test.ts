import { expect, test } from "vitest";
import { type JsonNode, parseJsonNode, nodeAt, repeatedKeys } from "../../../src/base/json/json-text.ts";

const text = '{ "a": [1, { "b": 2, "b": 3 }], "a": [4] , "c": {} }';
const root = parseJsonNode(text) as JsonNode;
const shown = ({ offset, end }: { offset: number; end: number }): string => text.slice(offset, end);

test("a value is found by its path; what is missing is in what encloses it", () => {
  expect(shown(nodeAt(root, ["a", 0]))).toBe("4");
  expect(shown(nodeAt(root, ["c", "d", "e"]))).toBe("{}");
  expect(nodeAt(root, [])).toBe(root);
});

test("keys that occur twice are found at any level", () => {
  expect([...repeatedKeys(root)].map(({ key, offset }) => [key, offset])).toEqual([["b", text.lastIndexOf('"b"')], ["a", text.lastIndexOf('"a"')]]); // prettier-ignore
});
