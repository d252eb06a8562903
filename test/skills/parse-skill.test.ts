import fc from "fast-check";
import { expect, test } from "vitest";
import { findFrontmatter } from "../../src/skills/frontmatter.ts";
import { parseSkill } from "../../src/skills/parse-skill.ts";
import { rules } from "../../src/skills/rules.ts";
import { availableSkillSchema } from "../../src/wire/available-skill.ts";
import { toAvailableSkill } from "../../src/wire/to-available-skill.ts";
import { arbitrarySkillText } from "./arbitrary-frontmatter.ts";

const parse = (text: string | Uint8Array, name = "pdf", whole = true) =>
  parseSkill({
    directory: `/skills/${name}`,
    expectedName: name,
    file: `/skills/${name}/SKILL.md`,
    head: Buffer.from(text),
    whole,
  });

const codes = (text: string | Uint8Array, name?: string) => parse(text, name).findings.map(({ code }) => code);

test("whatever a file says, what is offered goes over the wire, and what is not is explained", () => {
  let offered = 0;
  const directory = fc.oneof(fc.constantFrom("pdf", "名前", "--", "PDF Tools", "a.b"), fc.string());
  fc.assert(
    fc.property(arbitrarySkillText, directory, (text, name) => {
      const { skill, findings } = parse(text, name);
      const refused = findings.some(({ code }) => rules[code].lenient === "error");
      expect(skill === undefined).toBe(refused);
      for (const { line, column, message, fix } of findings) {
        expect(line).toBeGreaterThanOrEqual(1);
        expect(line).toBeLessThanOrEqual(text.split(/\r\n|\n|\r/).length);
        expect(column).toBeGreaterThanOrEqual(1);
        expect(message).not.toBe("");
        expect(fix).not.toBe("");
      }
      if (skill === undefined) return;
      offered++;
      expect(Object.isFrozen(skill)).toBe(true);
      availableSkillSchema.parse(toAvailableSkill({ skill, sources: ["/skills"], problems: [], versions: [skill] }));
    }),
    { numRuns: 1500 },
  );
  expect(offered).toBeGreaterThan(60);
});

test("arbitrary bytes never throw", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, whole) => {
      const fenced = Buffer.concat([Buffer.from("---\nname: x\ndescription: "), bytes, Buffer.from("\n---\n")]);
      expect(parse(bytes, "x", whole).findings.length).toBeGreaterThan(0);
      expect(() => parse(fenced, "x", whole)).not.toThrow();
    }),
  );
});

test("a skill is read with every field it has", () => {
  const { skill, findings } = parse(
    [
      "---",
      "name: pdf",
      "description: |",
      "  Reads PDF files.",
      "license: MIT",
      "compatibility: Needs Python 3.12",
      "allowed-tools: Bash(git add *), Read",
      "metadata:",
      "  author: someone",
      "  version: 1.10",
      "---",
      "# PDF",
    ].join("\n"),
  );
  expect(findings).toEqual([]);
  expect(skill).toEqual({
    name: "pdf",
    slug: "pdf",
    version: "1.10",
    kind: "instruction",
    namespace: "pdf",
    description: "Reads PDF files.",
    license: "MIT",
    compatibility: "Needs Python 3.12",
    allowedTools: ["Bash(git add *)", "Read"],
    tags: [],
    metadata: { author: "someone", version: "1.10" },
    dialect: "agent-skills",
    directory: "/skills/pdf",
    file: "/skills/pdf/SKILL.md",
  });
});

test("with a manifest, the manifest decides and the frontmatter adds", () => {
  const manifest = {
    name: "salesforce.leads.sync",
    version: "1.2.0",
    description: " Syncs. ",
    kind: "instruction",
  } as const;
  const text = "---\nname: Salesforce Lead Sync\nshort_description: Sync leads.\ntags: [crm, leads]\n---\n";
  const input = {
    directory: "/skills/sync",
    expectedName: "sync",
    file: "/skills/sync/SKILL.md",
    head: Buffer.from(text),
    whole: true,
  };
  expect(parseSkill(input, { manifest, findings: [] }).skill).toEqual({
    name: "salesforce.leads.sync",
    slug: "salesforce-leads-sync",
    version: "1.2.0",
    kind: "instruction",
    namespace: "salesforce",
    description: "Syncs.",
    tags: ["crm", "leads"],
    metadata: {},
    dialect: "skills-protocol",
    directory: "/skills/sync",
    file: "/skills/sync/SKILL.md",
    manifest,
  });
  expect(parseSkill(input, { findings: [] }).skill).toBeUndefined();
});

test("a head without the closing fence asks for more, and only where there is more", () => {
  const text = "---\nname: pdf\ndescription: x\n---\nbody";
  for (let length = 0; length <= text.length; length++) {
    const head = Buffer.from(text.slice(0, length));
    const wanted = findFrontmatter(head, false).kind;
    expect(wanted).toBe(length > text.indexOf("---\nbody") + 3 ? "found" : "incomplete");
    const found = parse(head, "pdf", false).findings.map(({ code }) => code);
    expect(found).toEqual(wanted === "found" ? [] : ["frontmatter-too-long"]);
  }
});

test("findings stand in the order of the file", () => {
  const { findings } = parse("---\nextra: 1\nname: PDF\nother: x: y\n---\n");
  expect(findings.map(({ code, line, column }) => `${code} ${line}:${column}`)).toEqual([
    "description-missing 2:1",
    "field-unexpected 2:8",
    "name-not-lowercase 3:7",
    "name-directory-mismatch 3:7",
    "field-unexpected 4:8",
    "yaml-unquoted-colon 4:9",
  ]);
});

test("columns count characters, not UTF-16 units", () => {
  const { findings } = parse("---\nname: pdf\ndescription: 😀😀 a: b\n---\n");
  expect(findings).toMatchObject([{ code: "yaml-unquoted-colon", line: 3, column: 18 }]);
});

test.each([
  ["a", "ok", []],
  ["名前", "名前", ["name-not-ascii", "name-unusable"]],
  ["ﬁle", "file", []],
  ["a".repeat(65), "a".repeat(65), ["name-too-long"]],
  ["😀".repeat(65), "x", ["name-too-long", "name-invalid-characters", "name-directory-mismatch"]],
])("names are judged as the reference validator does: %s in %s", (name, directory, expected) => {
  const found = codes(`---\nname: ${name}\ndescription: x\n---\n`, directory);
  expect(found).toEqual(name === "a" ? ["name-directory-mismatch"] : expected);
});

test("an alias bomb is named, costs only the keys that use it, and is never written out", () => {
  const bomb = Array.from({ length: 9 }, (_, level) =>
    level === 0
      ? "a0: &a0 [x, x]"
      : `a${level}: &a${level} [${Array.from({ length: 9 }, () => `*a${level - 1}`).join(", ")}]`,
  );
  const { skill, findings } = parse(`---\nname: pdf\ndescription: x\n${bomb.join("\n")}\n---\n`);
  expect(skill?.description).toBe("x");
  expect(findings.map(({ code }) => code)).toContain("yaml-alias-bomb");
  expect(JSON.stringify(findings).length).toBeLessThan(10_000);
});

test("a tag constructs nothing", () => {
  const { skill, findings } = parse(
    "---\nname: pdf\ndescription: x\nrun: !!js/function 'function () { throw 1 }'\n---\n",
  );
  expect(skill?.description).toBe("x");
  expect(findings).toMatchObject([{ code: "yaml-tag", line: 4, column: 6 }]);
});

test("keys called __proto__ and constructor are keys", () => {
  const { skill } = parse(
    "---\nname: pdf\ndescription: x\n__proto__: y\nmetadata:\n  __proto__: p\n  constructor: c\n---\n",
  );
  expect(Object.entries(skill?.metadata ?? {})).toEqual([
    ["__proto__", "p"],
    ["constructor", "c"],
  ]);
  expect(Object.getPrototypeOf(skill?.metadata)).toBe(Object.prototype);
});

const fixesOf = (text: string, directory: string) =>
  Object.fromEntries(parse(text, directory).findings.map(({ code, fix }) => [code, fix]));

test("the fix of a name is a name that is valid", () => {
  expect(fixesOf("---\nname: My Bad Skill\ndescription: d\n---\n", "MyBad")).toEqual({
    "name-not-lowercase": "Write it as my-bad-skill.",
    "name-invalid-characters": "Write it as my-bad-skill.",
    "name-directory-mismatch": "Rename one of them: the directory to my-bad-skill, or the name to mybad.",
  });
  expect(fixesOf("---\nname: pdf--tools\ndescription: d\n---\n", "PDF tools")).toEqual({
    "name-hyphens": "Write it as pdf-tools.",
    "name-directory-mismatch": "Rename both to pdf-tools.",
  });
});

test.each([
  ["descr: d", "Did you mean description? Else: Move descr into metadata, or remove it."],
  ["description: d\ndescr: d", "Move descr into metadata, or remove it."],
  ["description: d\nversion: 1", "Move version into metadata, or remove it."],
])("the fix of an unknown field names a known one that is close and not there: %j", (fields, fix) => {
  expect(fixesOf(`---\nname: pdf\n${fields}\n---\n`, "pdf")["field-unexpected"]).toBe(fix);
});
