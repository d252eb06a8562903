import fc from "fast-check";
import { FAILSAFE_SCHEMA, load } from "js-yaml";
import { expect, test } from "vitest";
import { readYaml } from "../../../src/skills/manifest/yaml.ts";
import { arbitraryFrontmatter } from "../arbitrary-frontmatter.ts";

const at = (text: string) => readYaml(text).faults.map(({ code, offset }) => `${code} ${offset}`);

test("reads valid YAML like the parser, and returns faults for anything else without throwing", () => {
  fc.assert(
    fc.property(arbitraryFrontmatter, (text) => {
      const { values, faults } = readYaml(text);
      let expected: unknown;
      try {
        expected = load(text, { schema: FAILSAFE_SCHEMA, maxAliases: 10, maxDepth: 20 });
      } catch (error) {
        if (!String(error).includes("input is empty")) expect(faults).not.toEqual([]);
        return;
      }
      const isMapping = typeof expected === "object" && !Array.isArray(expected);
      expect(values).toEqual(isMapping ? expected : {});
      const remarks = ["yaml-not-strict", "yaml-comment-in-value"];
      expect(faults.map(({ code }) => code).filter((code) => !remarks.includes(code))).toEqual(
        isMapping ? [] : ["frontmatter-not-a-mapping"],
      );
    }),
    { numRuns: 2500 },
  );
});

test.each([
  ["a: Use when: needed\nb: x\n", { a: "Use when: needed", b: "x" }, ["yaml-unquoted-colon 11"]],
  ["a: one: two\n  three: four\n", { a: "one: two three: four" }, ["yaml-unquoted-colon 6"]],
  ["a: ends:\n", { a: "ends:" }, ["yaml-unquoted-colon 7"]],
  ["a: 1\na: 2\n", { a: "1" }, ["yaml-duplicate-key 5"]],
  ["m:\n  a: 1\n  a: 2\nb: x\n", { m: { a: "2" }, b: "x" }, ["yaml-duplicate-key 12"]],
  ["a: @x\nb: y\n", { a: "@x", b: "y" }, ["yaml-syntax 3"]],
  ["a: `x`\n", { a: "`x`" }, ["yaml-syntax 3"]],
  ["a: %x\n", { a: "%x" }, ["yaml-syntax 3"]],
  ["a: *.py files\n", { a: "*.py files" }, ["yaml-syntax 3"]],
  ["a: [one] or two\n", { a: "[one] or two" }, ["yaml-syntax 3"]],
  ["a: {{name}} x\n", { a: "{{name}} x" }, ["yaml-syntax 3"]],
  ['a: "x" and y\n', { a: '"x" and y' }, ["yaml-syntax 3"]],
  ['a: "a\\q"\nb: y\n', { a: "a\\q", b: "y" }, ["yaml-syntax 5"]],
  ['a: "a\\q \\n\n  \\xZ"\n', { a: "a\\q \n \\xZ" }, ["yaml-syntax 5", "yaml-syntax 13"]],
  ['m:\n  p: "C:\\dir"\n  q: C:\\dir\n', { m: { p: "C:\\dir", q: "C:\\dir" } }, ["yaml-syntax 11"]],
  ['a: "a\\q" and y\n', { a: '"a\\q" and y' }, ["yaml-syntax 3"]],
  ["a: 'open\nb: y\n", { a: "open", b: "y" }, ["yaml-syntax 3"]],
  ['a: "open\nb: y\n', { a: "open", b: "y" }, ["yaml-syntax 3"]],
  ["m:\n\ta: 1\nb: x\n", { m: { a: "1" }, b: "x" }, ["yaml-syntax 3"]],
  ["a: | Use: it\nb: y\n", { a: "Use: it\n", b: "y" }, ["yaml-syntax 3"]],
  ["a: > Use\n  it\nb: y\n", { a: "Use it\n", b: "y" }, ["yaml-syntax 3"]],
  ["a: |\n  Use\nb: y: z\n", { a: "Use\n", b: "y: z" }, ["yaml-unquoted-colon 15"]],
  ['a: "Use "it" now"\nb: y\n', { a: 'Use "it" now', b: "y" }, ["yaml-syntax 3"]],
  ['a: "Use"" now"\nb: y\n', { a: 'Use"" now', b: "y" }, ["yaml-syntax 3"]],
  ["a: 'it's'\nb: y\n", { a: "it's", b: "y" }, ["yaml-syntax 3"]],
  ['a: "x\ny: z"\nb: y\n', { a: "x y: z", b: "y" }, ["yaml-syntax 6"]],
  ['a: "x\nname: z"\nb: y\n', { a: "x", name: 'z"', b: "y" }, ["yaml-syntax 3"]],
  ["name: a\n description: b\n", { name: "a", description: "b" }, ["yaml-syntax 9"]],
  ["name: a\n  x: b\n", { name: "a", x: "b" }, ["yaml-syntax 10"]],
  ["m:\n  name: a\nb: x: y\n", { m: { name: "a" }, b: "x: y" }, ["yaml-unquoted-colon 17"]],
  ["a: Use: it\n# why\nb: y\n", { a: "Use: it", b: "y" }, ["yaml-unquoted-colon 6"]],
  ["a: Issue #5 fixer # use it\n", { a: "Issue" }, ["yaml-comment-in-value 9"]],
  [
    "a: C# and F#, #1\nb: 'x #y' # z\n# c # d\nc: |\n  x # y\n",
    { a: "C# and F#,", b: "x #y", c: "x # y\n" },
    ["yaml-comment-in-value 14"],
  ],
  ["a: Use: issue #5\n", { a: "Use: issue #5" }, ["yaml-unquoted-colon 6"]],
  ["a:\n  text # cut\n", { a: "text" }, ["yaml-comment-in-value 10"]],
  ["a: x\nstray line\nb: y\n", { a: "x", b: "y" }, ["yaml-syntax 5"]],
  ["a: !js x\nb: y\n", { b: "y" }, ["yaml-tag 3"]],
  ["m:\n  - [\nb: y\n", { b: "y" }, ["yaml-syntax 8", "yaml-not-strict 7"]],
  ["- a\n- b\n", {}, ["frontmatter-not-a-mapping 0"]],
  ["text\n", {}, ["frontmatter-not-a-mapping 0"]],
  ["a: [x, y]\n", { a: ["x", "y"] }, ["yaml-not-strict 3"]],
  ["# only a comment\n", {}, []],
  ["\n", {}, []],
])("recovers as much as possible from invalid YAML: %j", (text, values, faults) => {
  expect(readYaml(text).values).toEqual(values);
  expect(at(text)).toEqual(faults);
});

test("keeps the first of two duplicate keys, even if the second is invalid", () => {
  expect(readYaml("name: a\nname: [\n").values).toEqual({ name: "a" });
});

test("keeps every key around an invalid one", () => {
  const key = fc.constantFrom("a: [", "a: 'x", "a: b: c", "a: @x", "a:\n  - - [", "a: !x y", "stray");
  fc.assert(
    fc.property(fc.nat(3), key, (index, broken) => {
      const lines = ["name: pdf", "description: Reads.", "license: MIT"];
      const { values, faults } = readYaml([...lines.slice(0, index), broken, ...lines.slice(index), ""].join("\n"));
      expect(values).toMatchObject({ name: "pdf", description: "Reads.", license: "MIT" });
      expect(faults.length).toBeGreaterThan(0);
    }),
  );
});

test("reports an unknown escape sequence", () => {
  expect(readYaml('a: "a\\q"\n').faults).toMatchObject([
    {
      message: "unknown escape sequence in double quotes; the backslash is preserved",
      fix: "Write two backslashes, or put the value in single quotes.",
    },
  ]);
});

test("reads long frontmatter key by key and limits the bytes given to the parser", () => {
  const list = `[${"[x], ".repeat(8000)}]`;
  const { values, faults } = readYaml(`name: pdf\nlong: ${list}\nanchor: &x y\ndescription: Use when: needed\n`);
  expect(values).toEqual({ name: "pdf", anchor: "y", description: "Use when: needed" });
  expect(faults.map(({ code, message }) => `${code} ${message}`)).toEqual([
    "yaml-syntax `long` is skipped: more than 16 KiB of the frontmatter need a full YAML parser",
    expect.stringContaining("yaml-unquoted-colon"),
    expect.stringContaining("yaml-not-strict"),
    expect.stringContaining("yaml-not-strict"),
  ]);
});

test("reads at most 1,000 keys", () => {
  const keys = (count: number): string => Array.from({ length: count }, (_, index) => `k${index}: x\n`).join("");
  expect(readYaml(keys(1000)).faults).toEqual([]);
  const { values, faults } = readYaml(`${keys(3000)}last: x\n`);
  expect(Object.keys(values)).toHaveLength(1000);
  expect(faults).toMatchObject([{ code: "yaml-syntax", offset: keys(1000).length }]);
});
