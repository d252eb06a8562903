import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { matchesIgnorePattern, parseIgnorePattern } from "../../../../src/skills/skillset/scan/ignore-files.ts";

const names = ["a", "b", "ab", "abb", "aab", "c", "]", "[a", "#a", "!a", "-", "ba", "A"];
const segments = [
  ...["a", "b", "ab", "*", "**", "?", "a*", "*b", "a*b", "[ab]", "[!a]", "[a-b]b", "\\a", "a?", "**a", "a**b", "[]a]"],
  ...["[[:alpha:]]", "*a*", "a ", "[^b]*", "]", "[b-a]", "[a-]", "\\[a", "#a", "\\#a", "!a", ""],
];
let repository = "";
let paths: readonly string[] = [];

beforeAll(() => {
  repository = mkdtempSync(path.join(tmpdir(), "acp-skills-ignored-"));
  execFileSync("git", ["init", "-q", repository]);
  const path_ = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
  paths = [...new Set(fc.sample(path_, { numRuns: 200, seed: 1 }))];
  for (const directory of paths) mkdirSync(path.join(repository, directory), { recursive: true });
});
afterAll(() => {
  rmSync(repository, { recursive: true });
});

/** The paths for which git reports that this pattern matches them or a parent directory. */
function asGitSays(pattern: string): string[] {
  writeFileSync(path.join(repository, ".gitignore"), `${pattern}\n`);
  const args = ["-C", repository, "check-ignore", "--no-index", "-v", "-n", "-z", "--stdin"];
  const { stdout } = spawnSync("git", args, { input: paths.join("\0"), encoding: "utf8" });
  const fields = stdout.split("\0");
  return paths.filter((_, index) => fields[index * 4 + 2] !== "");
}

function asWeSay(line: string): string[] {
  const pattern = parseIgnorePattern(line);
  if (pattern === undefined || pattern === "excessive") return [];
  return paths.filter((directory) => {
    const parts = directory.split("/");
    // git checks paths below a re-included directory again.
    if (pattern.negated) return matchesIgnorePattern(pattern, parts);
    return parts.some((_, index) => matchesIgnorePattern(pattern, parts.slice(0, index + 1)));
  });
}

test("a pattern matches the same directories as in git", () => {
  const pattern = fc
    .tuple(
      fc.constantFrom("", "", "", "/", "!"),
      fc.array(fc.constantFrom(...segments), { minLength: 1, maxLength: 5 }),
      fc.constantFrom("", "", "/", " "),
    )
    .map(([start, parts, end]) => start + parts.join("/") + end);
  fc.assert(
    fc.property(pattern, (line) => {
      expect(asWeSay(line)).toEqual(asGitSays(line));
    }),
    { numRuns: 300, seed: 2 },
  );
});

test.each(["[", "[a", "a\\", "[[:nothing:]]"])("%s matches nothing, like in git", (line) => {
  expect(asWeSay(line)).toEqual([]);
  expect(asGitSays(line)).toEqual([]);
});

test("a wildcard matches a character, unlike in git, where it matches a byte", () => {
  const pattern = parseIgnorePattern("?[!a]");
  expect(typeof pattern === "object" && matchesIgnorePattern(pattern, ["é😀"])).toBe(true);
});

test.each([
  ["repeated **", `a/${"**/".repeat(400)}aa`],
  ["stars in a row", `${"*".repeat(5000)}b`],
])("collapses %s and applies the pattern", (_name, line) => {
  const pattern = parseIgnorePattern(line);
  if (typeof pattern !== "object") throw new Error("expected a pattern");
  expect(matchesIgnorePattern(pattern, [...Array<string>(400).fill("a"), "ab"])).toBe(!line.includes("/"));
  expect(matchesIgnorePattern(pattern, ["a", "b", "aa"])).toBe(line.includes("/"));
});

test.each([
  ["33 stars in names", `a${"*a".repeat(33)}b`],
  ["33 ** between names", `a${"/**/a".repeat(33)}`],
  ["513 characters", "a".repeat(513)],
  ["sets", "[ab]".repeat(33)],
])("does not apply a pattern of %s", (_name, line) => {
  expect(parseIgnorePattern(line)).toBe("excessive");
});

test("matching takes at most time proportional to the pattern length times the path length", () => {
  const stars = parseIgnorePattern(`${"*a".repeat(32)}b`);
  const anyNames = parseIgnorePattern(`${"**/a/".repeat(32)}b`);
  if (typeof stars !== "object" || typeof anyNames !== "object") throw new Error("expected patterns");
  // With backtracking, a single one of these matches would exceed the timeout of the test.
  for (let count = 0; count < 100; count++) {
    expect(matchesIgnorePattern(stars, ["a".repeat(255)])).toBe(false);
    expect(matchesIgnorePattern(anyNames, Array<string>(2000).fill("a"))).toBe(false);
  }
});
