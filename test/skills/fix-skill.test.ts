import fc from "fast-check";
import { expect, test } from "vitest";
import { findFrontmatter } from "../../src/skills/frontmatter.ts";
import { fixSkill } from "../../src/skills/fix-skill.ts";
import { parseSkill } from "../../src/skills/parse-skill.ts";
import { arbitrarySkillText } from "./arbitrary-frontmatter.ts";

const parse = (text: string, name = "pdf") =>
  parseSkill({
    directory: `/${name}`,
    expectedName: name,
    file: `/${name}/SKILL.md`,
    head: Buffer.from(text),
    whole: true,
  });
const codes = (text: string) => parse(text).findings.map(({ code }) => code);
const body = (text: string) => {
  const bytes = Buffer.from(text);
  const place = findFrontmatter(bytes, true);
  return place.kind === "found" ? bytes.toString("utf8", place.end) : undefined;
};

test("a fix takes problems away, adds none, leaves the body alone, and is done at once", () => {
  let fixedOnes = 0;
  fc.assert(
    fc.property(arbitrarySkillText, (text) => {
      const { text: fixed, fixed: repairs } = fixSkill(text, { expectedName: "pdf" });
      if (repairs.length === 0) {
        expect(fixed).toBe(text);
        return;
      }
      fixedOnes++;
      const left = codes(text);
      for (const code of codes(fixed)) {
        expect(left).toContain(code);
        left.splice(left.indexOf(code), 1);
      }
      expect(left.length).toBeGreaterThan(0);
      expect(body(fixed)).toBe(body(text));
      expect(fixSkill(fixed, { expectedName: "pdf" })).toEqual({ text: fixed, fixed: [] });
      const before = parse(text).skill;
      if (before !== undefined) expect(parse(fixed).skill).toEqual(before);
    }),
    { numRuns: 1500 },
  );
  expect(fixedOnes).toBeGreaterThan(80);
});

const skill = (line: string) => `---\nname: pdf\n${line}\n---\n\nBody: x: y\n`;

test.each([
  ["description: Use when: it's needed", "description: 'Use when: it''s needed'"],
  ["description: Use when: needed \r", "description: 'Use when: needed' \r"],
  ["description: one: two\n  three: four", "description: 'one: two\n  three: four'"],
  ["description: @Observable state", "description: '@Observable state'"],
  ["description: `jq` filters", "description: '`jq` filters'"],
  ['description: "x" and y', "description: '\"x\" and y'"],
  ['description: "a\\q and \\w"', 'description: "a\\\\q and \\\\w"'],
  ['description: "open', "description: 'open'"],
  ["description: x\nmetadata:\n\tauthor: me", "description: x\nmetadata:\n  author: me"],
  ["description: x\ndescription: x", "description: x"],
])("%j becomes %j", (broken, repaired) => {
  expect(fixSkill(skill(broken), { expectedName: "pdf" }).text).toBe(skill(repaired));
});

test.each([
  "description: x\ndescription: y",
  "description: x\nlicense: !foo y",
  "description: x\nauthor: me",
  "description: x\nstray",
  "description: fine",
])("what could be meant in two ways is left: %j", (line) => {
  const text = skill(line);
  expect(fixSkill(text, { expectedName: "pdf" })).toEqual({ text, fixed: [] });
});

test.each([
  ["PDF Tools", "pdf-tools", "pdf-tools", ["name-not-lowercase"]],
  ["pdf_tools", "pdf-tools", "pdf-tools", ["name-invalid-characters"]],
  ["other", "pdf-tools", "other", []],
  ["PDF", "PDF", "PDF", []],
  ["PDF Tools", undefined, "PDF Tools", []],
])("the name %j in the directory %j is written %j", (name, expectedName, repaired, fixed) => {
  const text = (value: string) => `---\r\nname: "${value}"\r\ndescription: x\r\n---\r\nbody`;
  const options = expectedName === undefined ? {} : { expectedName };
  expect(fixSkill(text(name), options)).toEqual({ text: text(repaired), fixed });
});

test("a name lets lines be repaired that nothing could be made of before", () => {
  expect(fixSkill("---\n&x \r\nname{a: b}:\n: |+\n---\n", { expectedName: "pdf" })).toEqual({
    text: "---\nname: pdf\n&x \r\nname{a: 'b}:'\n: |+\n---\n",
    fixed: ["name-missing", "yaml-unquoted-colon"],
  });
});

test.each(["\ufeff---\n", "---\n\ufeff", "\ufeff---\n\ufeff\ufeff"])("byte order marks of %j go", (opening) => {
  expect(fixSkill(`${opening}x: a\ny: b: c\n---\n\ufeffbody`, { expectedName: "pdf" })).toEqual({
    text: "---\nname: pdf\nx: a\ny: 'b: c'\n---\n\ufeffbody",
    fixed: ["byte-order-mark", "yaml-unquoted-colon", "name-missing"],
  });
});

test("a missing name is that of the directory, and a byte order mark goes", () => {
  expect(fixSkill("\ufeff---\r\ndescription: x\r\n---\r\n", { expectedName: "pdf" })).toEqual({
    text: "---\r\nname: pdf\r\ndescription: x\r\n---\r\n",
    fixed: ["byte-order-mark", "name-missing"],
  });
});
