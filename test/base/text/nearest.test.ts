import fc from "fast-check";
import { expect, test } from "vitest";
import { asAvailable, nearest } from "../../../src/base/text/nearest.ts";

const names = ["pdf", "docx-reports", "commit-message", "commit-review"];

test("suggests the names with the fewest edits, best first", () => {
  expect(nearest("comit-mesage", names)).toEqual(["commit-message"]);
  expect(nearest("commit-reveiw", names, { count: 3 })).toEqual(["commit-review"]);
  expect(nearest("PDF", names)).toEqual(["pdf"]);
});

test("suggests names that contain the input", () => {
  expect(nearest("commit", names, { count: 3 })).toEqual(["commit-message", "commit-review"]);
});

test("suggests names that begin with the input before names that contain it", () => {
  expect(nearest("name", ["file-name-lowercase", "name-missing"])).toEqual(["name-missing"]);
});

test("suggests nothing when no name is close", () => {
  expect(nearest("zebra", names, { count: 3 })).toEqual([]);
  expect(nearest("", names, { count: 3 })).toEqual([]);
});

const tools = ["list_skills", "describe_skill", "read_skill_file", "create_blob", "read_blob"];

test.each([
  ["list_skill", "list_skills"],
  ["LIST_SKILLS", "list_skills"],
  ["raed_blob", "read_blob"],
  ["file", "read_skill_file"],
  ["describe_skil", "describe_skill"],
])("the nearest name to %s is %s", (word, name) => {
  expect(nearest(word, tools, asAvailable)[0]).toBe(name);
});

test("counts a transposition as one edit", () => {
  expect(nearest("abdc", ["abcdxx", "axyd", "abcd"], asAvailable)[0]).toBe("abcd");
});

test("returns at most `count` names, and none for an empty list", () => {
  expect(nearest("nothing like it", tools, asAvailable)).toHaveLength(5);
  expect(nearest("list", tools, { ...asAvailable, count: 2 })).toHaveLength(2);
  expect(nearest("list", [], asAvailable)).toEqual([]);
});

test("keeps the order of names with equal distances", () => {
  expect(nearest("a", ["c", "b", "d"], asAvailable)).toEqual(["c", "b", "d"]);
});

test("a smaller count returns the first entries of the complete ranking", () => {
  const word = fc.string({ maxLength: 8, unit: fc.constantFrom("a", "b", "c") });
  fc.assert(
    fc.property(
      word,
      fc.uniqueArray(word, { maxLength: 30 }),
      fc.integer({ min: 1, max: 10 }),
      (wanted, all, count) => {
        expect(nearest(wanted, all, { ...asAvailable, count })).toEqual(
          nearest(wanted, all, { ...asAvailable, count: all.length + 1 }).slice(0, count),
        );
      },
    ),
  );
});

test("finds and ranks the nearest of thousands of names", () => {
  const many = Array.from({ length: 10_000 }, (_, index) => `report-${index.toString(36)}-of-the-week`);
  const near = ["wekly-sales-reprt", "weekly-sale-report", "weekly-sales-reporting"];
  expect(nearest("weekly-sales-report", [...many, ...near], { ...asAvailable, count: 3 })).toEqual([
    "weekly-sales-reporting",
    "weekly-sale-report",
    "wekly-sales-reprt",
  ]);
  expect(nearest("~".repeat(128), many, { ...asAvailable, count: 2 })).toEqual(many.slice(0, 2));
});

test("ranks an exact match first, for names of any length", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ maxLength: 300 }), { minLength: 1 }), fc.nat(), (all, at) => {
      const wanted = all[at % all.length] ?? "";
      const [first = ""] = nearest(wanted, all, asAvailable);
      expect(first.slice(0, 128).toLowerCase()).toBe(wanted.slice(0, 128).toLowerCase());
    }),
  );
});

test("keeps the order of equally distant names even if their lower bounds differ", () => {
  expect(nearest("abcd", ["dcba", "xyza"], asAvailable)).toEqual(["dcba", "xyza"]);
  expect(nearest("abcdef", ["abqrsf", "fdabce"], { ...asAvailable, count: 2 })[0]).toBe("abqrsf");
});
