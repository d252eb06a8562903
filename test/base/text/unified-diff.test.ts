import fc from "fast-check";
import { expect, test } from "vitest";
import { unifiedDiff } from "../../../src/base/text/unified-diff.ts";

const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `line ${index + 1}`);
const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

test("a changed line is shown with three lines of context", () => {
  const before = numbered(20);
  const after = before.with(9, "other");
  expect(unifiedDiff(text(before), text(after), 100)).toEqual([
    "@@ -7,7 +7,7 @@",
    " line 7",
    " line 8",
    " line 9",
    "-line 10",
    "+other",
    " line 11",
    " line 12",
    " line 13",
  ]);
});

test("changes far apart are two hunks, close ones are one", () => {
  const before = numbered(40);
  const heads = (after: readonly string[]): readonly string[] =>
    unifiedDiff(text(before), text(after), 100).filter((line) => line.startsWith("@@"));
  expect(heads(before.with(4, "a").with(30, "b"))).toEqual(["@@ -2,7 +2,7 @@", "@@ -28,7 +28,7 @@"]);
  expect(heads(before.with(4, "a").with(9, "b"))).toEqual(["@@ -2,12 +2,12 @@"]);
});

test("new, removed and equal texts", () => {
  expect(unifiedDiff("", "a\nb\n", 10)).toEqual(["@@ -0,0 +1,2 @@", "+a", "+b"]);
  expect(unifiedDiff("a\n", "", 10)).toEqual(["@@ -1 +0,0 @@", "-a"]);
  expect(unifiedDiff("a\n", "a\n", 10)).toEqual([]);
  expect(unifiedDiff("a\n", "a", 10)).toContain("+\\ No newline at end of file");
});

test("long differences are cut, with the number of the other lines", () => {
  const lines = unifiedDiff("", text(numbered(300)), 10);
  expect(lines).toHaveLength(11);
  expect(lines.at(-1)).toBe("… and 291 more lines");
});

test("texts that have nothing in common cost no more than they must, and are replaced as a whole", () => {
  const [before, after] = [numbered(5_000), numbered(5_000).map((line) => `other ${line}`)];
  expect(unifiedDiff(text(before), text(after), 20_000)).toHaveLength(10_001);
});

test("applied to the first text, any diff gives the second", () => {
  const lines = fc.array(fc.constantFrom("a", "b", "c", "", "+", "@@"), { maxLength: 30 });
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const diff = unifiedDiff(text(before), text(after), Infinity);
      const result: string[] = [];
      let at = 0;
      for (const line of diff) {
        const [, start, count] = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@$/.exec(line) ?? [];
        if (start !== undefined) {
          const until = Number(start) - (count === "0" ? 0 : 1);
          result.push(...before.slice(at, until));
          at = until;
        } else if (line.startsWith("+")) result.push(line.slice(1));
        else {
          expect(before[at]).toBe(line.slice(1));
          if (line.startsWith(" ")) result.push(line.slice(1));
          at += 1;
        }
      }
      expect([...result, ...before.slice(at)]).toEqual(after);
    }),
  );
});

test("a text of more lines than a function takes arguments is compared", () => {
  expect(unifiedDiff("\n".repeat(300_000), "other\n", 2)).toEqual([
    "@@ -1,300000 +1 @@",
    "-",
    "… and 300000 more lines",
  ]);
});
