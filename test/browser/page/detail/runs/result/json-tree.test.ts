import { expect, test } from "vitest";
import { parentRowPath, toRows } from "../../../../../../src/browser/page/detail/runs/result/json-tree.tsx";

const value = { a: [1, { b: null }], "c/d~": "text", e: {} };
const rows = (open: readonly string[], shown: readonly (readonly [string, number])[] = []): readonly string[] =>
  toRows(value, { open: new Set(open), shown: new Map(shown) }).map(
    ({ path, depth, name = "", text }) => `${"  ".repeat(depth)}${name} ${text} ${path}`,
  );

test("only what is open is shown", () => {
  expect(rows([])).toEqual([" 3 keys "]);
  expect(rows(["", "/a"])).toEqual([
    " 3 keys ",
    "  a 2 items /a",
    "    0 1 /a/0",
    "    1 1 key /a/1",
    '  c/d~ "text" /c~1d~0',
    "  e { } /e",
  ]);
});

test("of many children a hundred are shown, and more when asked for", () => {
  const many = Array.from({ length: 250 }, (_, index) => index);
  const first = toRows(many, { open: new Set([""]), shown: new Map() });
  expect(first).toHaveLength(102);
  expect(first.at(-1)).toMatchObject({ path: "#more", kind: "more", text: "Show 100 of 150 more", siblings: 250 });
  expect(toRows(many, { open: new Set([""]), shown: new Map([["", 300]]) })).toHaveLength(251);
  expect(parentRowPath("/a/1")).toBe("/a");
  expect(parentRowPath("/a#more")).toBe("/a");
});

test("texts are cut, and nothing in them hides", () => {
  const [row] = toRows(`a\u202eb${"x".repeat(3_000)}`, { open: new Set(), shown: new Map() });
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
  toRows(many, { open: new Set(["", "/0", "/999"]), shown: new Map() });
  expect(read).toBe(1);
});
