import { expect, test } from "vitest";
import { toLines } from "../../../../../../src/browser/page/detail/runs/result/json-tree.tsx";

const value = { a: [1, { b: null }], "c/d~": "text", e: {} };
const rows = (open: readonly string[], shown: readonly (readonly [string, number])[] = []): readonly string[] =>
  toLines(value, { open: new Set(open), shown: new Map(shown) }).map(
    ({ path, level, name = "", text }) => `${"  ".repeat(level - 1)}${name} ${text} ${path}`,
  );

test("only what is open is shown", () => {
  expect(rows([])).toEqual([" 3 keys "]);
  expect(rows(["", '"a"'])).toEqual([
    " 3 keys ",
    '  a 2 items "a"',
    '    0 1 "a""0"',
    '    1 1 key "a""1"',
    '  c/d~ "text" "c/d~"',
    '  e { } "e"',
  ]);
});

test("of many children a hundred are shown, and more when asked for", () => {
  const many = Array.from({ length: 250 }, (_, index) => index);
  const first = toLines(many, { open: new Set([""]), shown: new Map() });
  expect(first).toHaveLength(102);
  expect(first.at(-1)).toMatchObject({
    path: '"100"',
    parent: "",
    kind: "more",
    text: "Show 100 of 150 more",
    siblings: 250,
  });
  expect(toLines(many, { open: new Set([""]), shown: new Map([["", 300]]) })).toHaveLength(251);
});

test("texts are cut, and nothing in them hides", () => {
  const [row] = toLines(`a\u202eb${"x".repeat(3_000)}`, { open: new Set(), shown: new Map() });
  expect(row?.text).toMatch(/^"a⟨U\+202E⟩bx+" … 3,003 characters$/);
});

test("of a large array, what is not shown is not read", () => {
  let read = 0;
  const many = Array.from({ length: 1_000 }, (_, index) => ({
    get item() {
      read += 1;
      return index;
    },
  }));
  toLines(many, { open: new Set(["", '"0"', '"999"']), shown: new Map() });
  expect(read).toBe(1);
});
