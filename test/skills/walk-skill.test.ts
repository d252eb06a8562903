import { posix, win32 } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isHiddenName, skillPathFault } from "../../src/skills/hash.ts";

const segment = fc
  .string({
    minLength: 1,
    maxLength: 12,
    unit: fc.constantFrom("a", "B", "0", "-", "_", " ", "%", "é", "文", "😀", "."),
  })
  .filter((text) => text !== "." && text !== "..");
const good = fc.array(segment, { minLength: 1, maxLength: 6 }).map((segments) => segments.join("/"));

test("accepts a relative path of ordinary segments", () => {
  fc.assert(
    fc.property(good, (path) => {
      expect(skillPathFault(path)).toBeUndefined();
    }),
  );
});

const breaks: readonly [string, (path: string, rest: string) => string][] = [
  ["a leading slash", (path) => `/${path}`],
  ["a trailing slash", (path) => `${path}/`],
  ["an empty segment", (path, rest) => `${path}//${rest}`],
  ["a . segment", (path, rest) => `${path}/./${rest}`],
  ["a leading ./", (path) => `./${path}`],
  ["a .. segment", (path, rest) => `${path}/../${rest}`],
  ["a leading ..", (path) => `../${path}`],
  ["a trailing ..", (path) => `${path}/..`],
  ["a backslash", (path, rest) => `${path}\\${rest}`],
  ["a NUL", (path, rest) => `${path}\0${rest}`],
  ["a leading tilde", (path) => `~/${path}`],
  ["a leading ~user", (path) => `~root/${path}`],
  ["a drive letter", (path) => `C:${path}`],
  ["a drive letter and a slash", (path) => `c:/${path}`],
  ["a UNC name", (path) => `\\\\host\\${path}`],
];

test.each(breaks)("rejects a path with %s", (_name, spoil) => {
  fc.assert(
    fc.property(good, good, (path, rest) => {
      expect(skillPathFault(spoil(path, rest))).toBeTypeOf("string");
    }),
  );
});

test("an accepted path never resolves outside its root", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(".", "/", "\\", "~", "a", "%2e", "%2f", "C:", "\0") }), (path) => {
      if (skillPathFault(path) !== undefined) return;
      for (const system of [posix, win32]) {
        const root = system.resolve("/root");
        expect(system.resolve(root, path).startsWith(root + system.sep)).toBe(true);
      }
    }),
  );
});

test("does not decode percent signs", () => {
  expect(skillPathFault("%2e%2e/%2fetc")).toBeUndefined();
});

test("accepts 512 characters and rejects 513, counted as code points", () => {
  expect(skillPathFault("a".repeat(512))).toBeUndefined();
  expect(skillPathFault("a".repeat(513))).toBe("has more than 512 characters");
  expect(skillPathFault("😀".repeat(512))).toBeUndefined();
  expect(skillPathFault("😀".repeat(513))).toBe("has more than 512 characters");
});

test.each([
  [".env", true],
  [".git", true],
  ["..data", true],
  ["__pycache__", true],
  ["__PYCACHE__", true],
  ["a.b", false],
  ["pycache", false],
])("%s is hidden: %s", (name, hidden) => {
  expect(isHiddenName(name)).toBe(hidden);
});
