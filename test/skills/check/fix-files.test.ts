import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import fc from "fast-check";
import { FAILSAFE_SCHEMA, load } from "js-yaml";
import { replaceFile } from "../../../src/base/paths/replace-file.ts";
import { findFrontmatter } from "../../../src/skills/manifest/frontmatter.ts";
import { fixSkill } from "../../../src/skills/check/fix-files.ts";
import { parseSkill } from "../../../src/skills/manifest/parse-skill.ts";
import { arbitrarySkillText } from "../arbitrary-frontmatter.ts";

let directory: string;
beforeEach(() => {
  directory = realpathSync(mkdtempSync(path.join(tmpdir(), "replace-file-")));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

test("replaces the text, keeps the mode and leaves no temporary file", () => {
  const file = path.join(directory, "SKILL.md");
  writeFileSync(file, "old");
  chmodSync(file, 0o640);
  replaceFile(file, "new");
  expect(readFileSync(file, "utf8")).toBe("new");
  expect(statSync(file).mode & 0o777).toBe(0o640);
  expect(readdirSync(directory)).toEqual(["SKILL.md"]);
});

test("rejects a symlink without following or replacing it", () => {
  const target = path.join(directory, "target.md");
  const link = path.join(directory, "SKILL.md");
  writeFileSync(target, "old");
  symlinkSync("target.md", link);
  expect(() => {
    replaceFile(link, "new");
  }).toThrow("is not a regular file");
  expect(readFileSync(target, "utf8")).toBe("old");
  expect(readlinkSync(link)).toBe("target.md");
});

test("does not create a missing file", () => {
  expect(() => {
    replaceFile(path.join(directory, "SKILL.md"), "new");
  }).toThrow(/ENOENT/);
  expect(readdirSync(directory)).toEqual([]);
});

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

test("a list that is not closed stays as it is, and a text that begins with a bracket is quoted", () => {
  const text = (value: string): string => `---\nname: pdf\ndescription: ${value}\n---\n`;
  for (const value of ["[Bash", "{a: b", "[Bash, Read"]) expect(fixSkill(text(value), {}).text).toBe(text(value));
  expect(fixSkill(text("[WIP] Reads: PDF"), {}).text).toBe(text("'[WIP] Reads: PDF'"));
});

test("a fix removes problems, adds none, keeps the body and is idempotent", () => {
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
    { numRuns: 1500, examples: [["---\nname: []\nname: name\n  Use when: yes\n---\n"]] },
  );
  expect(fixedOnes).toBeGreaterThan(80);
});

const words = fc
  .array(
    fc.constantFrom(
      ...["Use", "when:", "it's", "#5", "#", '"this"', "'that'", "files", "users'", "a: b", "C#", "e.g.", "(x)", "[y]"],
      ...[
        "{{z}}",
        "@me",
        "`cmd`",
        "100%",
        "|",
        ">",
        "-",
        "- one",
        "&",
        "*",
        "!",
        "\\d",
        "é",
        "👩‍💻",
        "https://a.b/c",
        "Note:",
      ],
    ),
    { minLength: 1, maxLength: 7 },
  )
  .map((parts) => parts.join(" "));

/** A value as people write it, valid YAML or not. */
const written = fc
  .tuple(words, words, fc.constantFrom("plain", '"', "'", "| ", "|- ", "> ", "below", "column 0"))
  .map(([first, second, style]) => {
    switch (style) {
      case "plain":
        return `${first} ${second}`;
      case "below":
        return `${first}\n  ${second}`;
      case "column 0":
        return `"${first}\n${second}"`;
      case '"':
      case "'":
        return style + first + style.trim();
      case "| ":
      case "|- ":
      case "> ":
        return `${style}${first}\n  ${second}`;
    }
  });

const document = fc
  .tuple(
    fc.constantFrom("name: pdf", "name: pdf\nname: pdf\nname: pdf", "name: PDF", 'name: "pdf"'),
    fc.constantFrom("", "", "", " "),
    written,
    fc.option(written, { nil: undefined }),
    fc.constantFrom("\n", "\r\n"),
  )
  .map(([name, indent, description, license, lineBreak]) =>
    [name, `${indent}description: ${description}`, ...(license === undefined ? [] : [`license: ${license}`]), ""]
      .join("\n")
      .replaceAll("\n", lineBreak),
  );

/** The letters and digits of a text, regardless of quoting and folding. */
const lettersOf = (text: string) => text.match(/[\p{L}\p{N}]/gu)?.join("") ?? "";
/** Plain text without the comment lines after it. */
const uncommented = (text: string) => (/^["'|>]/.test(text) ? text : text.replace(/\n *#.*/g, ""));

/** The frontmatter as a strict parser reads it; undefined if it is invalid. */
function strictly(text: string): Record<string, unknown> | undefined {
  try {
    return load(text, { schema: FAILSAFE_SCHEMA }) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

test("a fix keeps the words of invalid values and the values of valid YAML", () => {
  let readable = 0;
  fc.assert(
    fc.property(document, (source) => {
      const result = fixSkill(`---\n${source}---\n`, { expectedName: "pdf" });
      const { text, fixed } = result;
      if (fixed.length === 0) return;
      const [before, after] = [strictly(source), strictly(text.slice(4, -4))];
      if (before !== undefined) expect({ ...after, name: "" }).toEqual({ ...before, name: "" });
      expect(fixSkill(text, { expectedName: "pdf" })).toEqual({ text, fixed: [] });
      if (before !== undefined || after === undefined) return;
      readable++;
      const [, description = "", license = ""] = /description: ([^]*?)\r?\n(?:license: ([^]*))?$/.exec(source) ?? [];
      expect(after["name"]).toBe("pdf");
      // A line that is valid on its own keeps its value; any other keeps its letters.
      for (const [key, text] of Object.entries({ description, license })) {
        const alone = text === "" ? undefined : strictly(`${key}: ${text}`);
        if (alone !== undefined) expect(after[key]).toEqual(alone[key]);
        else expect(lettersOf(typeof after[key] === "string" ? after[key] : "")).toBe(lettersOf(uncommented(text)));
      }
    }),
    { numRuns: 300 },
  );
  expect(readable).toBeGreaterThan(40);
});

test("mistakenly indented keys do not become part of the name above them", () => {
  const text = "---\nname: indent\n description: Does it.\n license: MIT\n---\n";
  expect(parse(text, "indent").skill).toMatchObject({ name: "indent", description: "Does it.", license: "MIT" });
  expect(fixSkill(text, { expectedName: "indent" }).text).toBe(text.replaceAll("\n ", "\n"));
});

const skill = (line: string) => `---\nname: pdf\n${line}\n---\n\nBody: x: y\n`;

test.each([
  ["description: Use when: it's needed", "description: 'Use when: it''s needed'"],
  ["description: Use when: needed \r", "description: 'Use when: needed' \r"],
  ["description: one: two\n  Three: four", "description: 'one: two\n  Three: four'"],
  ["description: Use: it\n# why\n", "description: 'Use: it'\n# why\n"],
  ["description: | Use when: needed", "description: |\n  Use when: needed"],
  ["description: |- Use it\n  when: needed\n\n  or not", "description: |-\n  Use it\n  when: needed\n\n  or not"],
  ["description: > Use it\n  when needed", "description: >\n  Use it\n  when needed"],
  ['description: "Use "this" when needed."', "description: 'Use \"this\" when needed.'"],
  ['description: "Use \\"a\\" and "b" now"', 'description: \'Use "a" and "b" now\''],
  ["description: 'it's the users' data'", "description: 'it''s the users'' data'"],
  ['description: "x" and "y"', 'description: \'"x" and "y"\''],
  ['description: "Use it\nwhen: needed."', 'description: "Use it\n  when: needed."'],
  ["description: x\nlicense: a\nlicense: a\nlicense: a", "description: x\nlicense: a"],
  ["description: @Observable state", "description: '@Observable state'"],
  ["description: `jq` filters", "description: '`jq` filters'"],
  ['description: "x" and y', "description: '\"x\" and y'"],
  ['description: "a\\q and \\w"', 'description: "a\\\\q and \\\\w"'],
  ['description: "open', "description: 'open'"],
  ["description: x\nmetadata:\n\tauthor: me", "description: x\nmetadata:\n  author: me"],
  ["description: x\ndescription: x", "description: x"],
])("fixes %j as %j", (broken, repaired) => {
  expect(fixSkill(skill(broken), { expectedName: "pdf" }).text).toBe(skill(repaired));
});

test.each([
  "description: x\ndescription: y",
  "description: x\nlicense: !foo y",
  "description: x\nauthor: me",
  "description: one: two\n  three: four",
  "description: Issue #5 fixer # use it",
  "description: x\nmetadata:\n  a: b\n  a: b",
  "description: x\nstray",
  "description: fine",
])("leaves an ambiguous or valid line unchanged: %j", (line) => {
  const text = skill(line);
  expect(fixSkill(text, { expectedName: "pdf" })).toEqual({ text, fixed: [] });
});

test.each([
  ["PDF Tools", "pdf-tools", "pdf-tools", ["name-not-lowercase"]],
  ["pdf_tools", "pdf-tools", "pdf-tools", ["name-invalid-characters"]],
  ["other", "pdf-tools", "other", []],
  ["PDF", "PDF", "PDF", []],
  ["PDF Tools", undefined, "PDF Tools", []],
])("fixes the name %j in the directory %j as %j", (name, expectedName, repaired, fixed) => {
  const text = (value: string) => `---\r\nname: "${value}"\r\ndescription: x\r\n---\r\nbody`;
  const options = expectedName === undefined ? {} : { expectedName };
  expect(fixSkill(text(name), options)).toEqual({ text: text(repaired), fixed });
});

test("adding the missing name makes other lines fixable", () => {
  expect(fixSkill("---\n&x \r\nname{a: b}:\n: |+\n---\n", { expectedName: "pdf" })).toEqual({
    text: "---\nname: pdf\n&x \r\nname{a: 'b}:'\n: |+\n---\n",
    fixed: ["name-missing", "yaml-unquoted-colon"],
  });
});

test.each(["\ufeff---\n", "---\n\ufeff", "\ufeff---\n\ufeff\ufeff"])(
  "removes the byte order marks of %j",
  (opening) => {
    expect(fixSkill(`${opening}x: a\ny: b: c\n---\n\ufeffbody`, { expectedName: "pdf" })).toEqual({
      text: "---\nname: pdf\nx: a\ny: 'b: c'\n---\n\ufeffbody",
      fixed: ["byte-order-mark", "yaml-unquoted-colon", "name-missing"],
    });
  },
);

test("adds a missing name from the directory and removes a byte order mark", () => {
  expect(fixSkill("\ufeff---\r\ndescription: x\r\n---\r\n", { expectedName: "pdf" })).toEqual({
    text: "---\r\nname: pdf\r\ndescription: x\r\n---\r\n",
    fixed: ["byte-order-mark", "name-missing"],
  });
});
