import { expect, test } from "vitest";
import { scalarText } from "../../../../../../src/browser/page/detail/runs/result/json-tree.tsx";

test("texts are cut, and nothing in them hides", () => {
  expect(scalarText(`a\u202eb${"x".repeat(3_000)}`)).toMatch(/^"a⟨U\+202E⟩bx+" … 3,003 characters$/);
  expect([1.5, true, null].map(scalarText)).toEqual(["1.5", "true", "null"]);
});
