import fc from "fast-check";
import { expect, test } from "vitest";
import { findFrontmatter } from "../../../src/skills/manifest/frontmatter.ts";
import { parseSkill } from "../../../src/skills/manifest/parse-skill.ts";
import { type Level, rules, toProblems } from "../../../src/skills/rules.ts";
import { availableSkillSchema } from "../../../src/wire/available-skill.ts";
import { toAvailableSkill } from "../../../src/wire/command-facts.ts";
import { arbitrarySkillText } from "../arbitrary-frontmatter.ts";

const parse = (text: string | Uint8Array, name = "pdf", whole = true) =>
  parseSkill({
    directory: `/skills/${name}`,
    expectedName: name,
    file: `/skills/${name}/SKILL.md`,
    head: Buffer.from(text),
    whole,
  });

const codes = (text: string | Uint8Array, name?: string) => parse(text, name).findings.map(({ code }) => code);

test("every parsed skill matches the wire schema, and every rejected one has an error", () => {
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

test("reads every field of a skill", () => {
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

test.each([
  ["disable-model-invocation: true", { disableModelInvocation: true }],
  ["disable-model-invocation: True\nuser-invocable: false", { disableModelInvocation: true, userInvocable: false }],
  ["disable-model-invocation: false\nuser-invocable: true", {}],
  ["disable-model-invocation: yes please\nuser-invocable:", {}],
  ["argument-hint: <file> to read", { argumentHint: "<file> to read" }],
  ["argument-hint: [issue-number]", { argumentHint: "[issue-number]" }],
  ["argument-hint: [from] [to]", { argumentHint: "[from] [to]" }],
  ['argument-hint: "two\\n lines\\e[2J"', { argumentHint: "two lines[2J" }],
  [`argument-hint: ${"x".repeat(300)}`, { argumentHint: "x".repeat(256) }],
  ["argument-hint:\n  a: b", {}],
])("reads the invocation fields and the argument hint: %j", (lines, fields) => {
  const text = `---\nname: pdf\ndescription: x\n${lines}\n---\n`;
  const manifest = { name: "a.b", version: "1.0.0", description: "x", kind: "instruction" } as const;
  const file = {
    directory: "/s/pdf",
    expectedName: "pdf",
    file: "/s/pdf/SKILL.md",
    head: Buffer.from(text),
    whole: true,
  };
  for (const { skill } of [parseSkill(file), parseSkill(file, { manifest, findings: [] })]) {
    const { disableModelInvocation, userInvocable, argumentHint } = skill ?? {};
    expect({ disableModelInvocation, userInvocable, argumentHint }).toEqual(fields);
  }
});

test("manifest fields take precedence over frontmatter fields", () => {
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

test("reports incomplete frontmatter until the head contains the closing fence", () => {
  const text = "---\nname: pdf\ndescription: x\n---\nbody";
  for (let length = 0; length <= text.length; length++) {
    const head = Buffer.from(text.slice(0, length));
    const wanted = findFrontmatter(head, false).kind;
    expect(wanted).toBe(length > text.indexOf("---\nbody") + 3 ? "found" : "incomplete");
    const found = parse(head, "pdf", false).findings.map(({ code }) => code);
    expect(found).toEqual(wanted === "found" ? [] : ["frontmatter-too-long"]);
  }
});

test("returns findings in file order", () => {
  const { findings } = parse("---\nextra: 1\nname: PDF\nother: x: y\n---\n");
  expect(findings.map(({ code, line, column }) => `${code} ${line}:${column}`)).toEqual([
    "field-unexpected 2:1",
    "description-missing 2:1",
    "name-not-lowercase 3:7",
    "yaml-unquoted-colon 4:9",
  ]);
});

test("columns count characters, not UTF-16 code units", () => {
  const { findings } = parse("---\nname: pdf\ndescription: 😀😀 a: b\n---\n");
  expect(findings).toMatchObject([{ code: "yaml-unquoted-colon", line: 3, column: 18 }]);
});

test.each([
  ["a", "ok", []],
  ["名前", "名前", ["name-unusable"]],
  ["ﬁle", "file", []],
  ["a".repeat(65), "a".repeat(65), ["name-too-long"]],
  ["😀".repeat(65), "x", ["name-too-long", "name-invalid-characters", "name-directory-mismatch"]],
])("validates names like the reference validator: %s in %s", (name, directory, expected) => {
  const found = codes(`---\nname: ${name}\ndescription: x\n---\n`, directory);
  expect(found).toEqual(name === "a" ? ["name-directory-mismatch"] : expected);
});

test("reports an alias bomb, drops only the keys that use it, and never expands it", () => {
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

test.each(["metadata:\n  - &x\n    name: *x", "metadata: &x [*x]", "metadata: &x\n  a: &y\n    b: [*x, *y]"])(
  "drops a key with a circular alias: %j",
  (circle) => {
    const { skill, findings } = parse(`---\nname: pdf\n${circle}\ndescription: x\n---\n`);
    expect(skill).toMatchObject({ slug: "pdf", description: "x", metadata: {} });
    expect(findings).toContainEqual(expect.objectContaining({ code: "yaml-alias-bomb" }));
  },
);

test("reports a tag and does not construct its object", () => {
  const { skill, findings } = parse(
    "---\nname: pdf\ndescription: x\nrun: !!js/function 'function () { throw 1 }'\n---\n",
  );
  expect(skill?.description).toBe("x");
  expect(findings).toMatchObject([{ code: "yaml-tag", line: 4, column: 6 }]);
});

test("treats __proto__ and constructor as ordinary keys", () => {
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

test("the fix for a name suggests a valid name", () => {
  expect(fixesOf("---\nname: My Bad Skill\ndescription: d\n---\n", "MyBad")).toEqual({
    "name-not-lowercase": "Rename it to `my-bad-skill`.",
    "name-directory-mismatch": "Rename the directory to `my-bad-skill`, or the name to `mybad`.",
  });
  expect(fixesOf("---\nname: pdf--tools\ndescription: d\n---\n", "PDF tools")).toEqual({
    "name-hyphens": "Rename it to `pdf-tools`.",
    "name-directory-mismatch": "Rename both to `pdf-tools`.",
  });
});

test.each([
  ["descr: d", "Did you mean `description` for `descr`? Otherwise move them under `metadata:`, or remove them."],
  ["description: d\ndescr: d", "Move them under `metadata:`, or remove them."],
  [
    "description: d\nlisense: MIT\norigin: 1",
    "Did you mean `license` for `lisense`? Otherwise move them under `metadata:`, or remove them.",
  ],
  ["description: d\norigin: 1", "Move them under `metadata:`, or remove them."],
])("the fix for an unknown field suggests a similar field that is not set: %j", (fields, fix) => {
  expect(fixesOf(`---\nname: pdf\n${fields}\n---\n`, "pdf")["field-unexpected"]).toBe(fix);
});

test("removes and reports escape sequences, bidirectional marks and NUL in all fields", () => {
  const { skill, findings } = parse(
    [
      "---",
      "name: pdf",
      'description: "hi \\e]0;pwned\\a \\e[2J \\u202e and\\ttabs\\nlines \\0 nul \\x9b \\ud800"',
      'license: "M\\eIT"',
      'compatibility: "Needs\\u2066 x"',
      'allowed-tools: ["Re\\ead"]',
      "metadata:",
      '  "auth\\eor": "some\\0one"',
      "  version: '1.0'",
      "---",
    ].join("\n"),
  );
  expect(skill).toMatchObject({
    description: "hi ]0;pwned [2J  and\ttabs\nlines  nul",
    license: "MIT",
    compatibility: "Needs x",
    allowedTools: ["Read"],
    metadata: { author: "someone", version: "1.0" },
  });
  expect(Object.keys(skill?.metadata ?? {})).toEqual(["author", "version"]);
  const lines = findings.filter(({ code }) => code === "control-characters").map(({ line }) => line);
  expect(lines).toEqual([3, 4, 5, 6, 7]);
});

test("reports bidirectional formatting characters in plain frontmatter", () => {
  const { skill, findings } = parse("---\nname: pdf\ndescription: a \u202etxt.exe\n---\n");
  expect(skill?.description).toBe("a txt.exe");
  expect(findings.map(({ code }) => code)).toEqual(["control-characters"]);
});

test("treats a description of only control characters as missing, and omits them from findings", () => {
  const { skill, findings } = parse('---\nname: "p\\e[2Jdf"\ndescription: "\\e\\0"\n"k\\e": x\n---\n');
  expect(skill).toBeUndefined();
  expect(findings.map(({ code }) => code)).toContain("description-missing");
  expect(JSON.stringify(findings)).not.toMatch(/\\u001b/);
});

test("no field or finding contains a control character", () => {
  const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
  const strings = (value: unknown): string[] =>
    typeof value === "string"
      ? [value]
      : typeof value === "object" && value !== null
        ? Object.entries(value).flat().flatMap(strings)
        : [];
  const field = fc.constantFrom("description", "license", "compatibility", "allowed-tools", "tags", "metadata");
  const piece = fc.constantFrom(
    "\\e",
    "\\0",
    "\\x9b",
    "\\u202e",
    "\u202e",
    "\u0007",
    "\\ud800",
    "a",
    " ",
    "\\t",
    '\\"',
    "\\q",
  );
  const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));
  const line = fc
    .tuple(field, text, fc.nat(2))
    .map(([key, value, form]) =>
      form === 0
        ? `${key}: "${value}"`
        : form === 1
          ? `${key}: ${value}`
          : `${key}: {"${value}": ["${value}"], b: "${value}"}`,
    );
  fc.assert(
    fc.property(fc.uniqueArray(line, { maxLength: 5, selector: (item) => item.split(":", 1)[0] }), (lines) => {
      const { skill, findings } = parse(`---\nname: pdf\n${lines.join("\n")}\n---\n`);
      for (const sent of [...strings(skill), ...strings(findings)]) expect(sent).not.toMatch(unsafe);
    }),
    { numRuns: 1000 },
  );
});

test("truncates long text and ignores overlong tools and metadata", () => {
  const text = [
    "---",
    "name: pdf",
    "description: Fine.",
    `license: ${"x".repeat(600)}`,
    `allowed-tools: Read, Bash(${"y".repeat(300)})${", Edit".repeat(200)}`,
    "metadata:",
    `  acp-skills-network: https://a.example ${"https://b.example ".repeat(200)}`,
    ...Array.from({ length: 80 }, (_, index) => `  k${index}: v`),
    "---",
  ].join("\n");
  const parsed = parseSkill({
    directory: "/pdf",
    expectedName: "pdf",
    file: "/pdf/SKILL.md",
    head: Buffer.from(text),
    whole: true,
  });
  expect(parsed.skill?.license).toHaveLength(500);
  expect(parsed.skill?.allowedTools).toHaveLength(128);
  expect(parsed.skill?.allowedTools?.slice(0, 2)).toEqual(["Read", "Edit"]);
  expect(Object.keys(parsed.skill?.metadata ?? {})).toHaveLength(63);
  expect(parsed.skill?.metadata).not.toHaveProperty("acp-skills-network");
  expect(parsed.findings.map(({ code }) => code)).toEqual([
    ...["license-too-long", "allowed-tools-too-long", "metadata-too-long", "metadata-too-long"],
  ]);
});

test("findings have the range of the value or of the key", () => {
  const { findings } = parse("---\nname: PDF  \nauthor: me\ndescription: x\nmetadata:\n  a:\n    b: c\n---\n");
  expect(
    findings.map(({ code, line, column, endLine, endColumn }) => `${code} ${line}:${column}-${endLine}:${endColumn}`),
  ).toEqual(["name-not-lowercase 2:7-2:10", "field-unexpected 3:1-3:7", "metadata-nested-value 6:3-6:4"]);
});

test("reports one problem per mistake, also for unknown and ignored fields and for names", () => {
  const text = (rest: string): string => `---\nname: pdf\ndescription: x\n${rest}---\n`;
  expect(codes(text("tags: [a, b]\n"))).toEqual(["field-unexpected"]);
  expect(codes(text("metadata:\n  tags: [a, b]\n"))).toEqual(["metadata-nested-value"]);
  expect(codes(text("tags: [a]\nallowed-tools: [Read]\n"))).toEqual(["field-unexpected", "yaml-not-strict"]);
  expect(codes(text("").replace("pdf", "PDF_Tools"), "pdf-tools")).toEqual(["name-not-lowercase"]);
});

test.each([
  ["description: !foo x", "description-missing", "description cannot be read: YAML tags are not allowed"],
  ["description:\n  - [", "description-missing", "description cannot be read: invalid YAML"],
  ["description: x\nname: !foo x", "yaml-tag", "YAML tags are not allowed"],
])("reports an unreadable value as one problem: %j", (lines, code, message) => {
  const name = lines.includes("name:") ? "" : "name: pdf\n";
  const { findings } = parse(`---\n${name}${lines}\n---\n`);
  expect(findings.map((finding) => [finding.code, finding.message.slice(0, message.length)])).toEqual([
    [code, message],
  ]);
});

test("fields that agents document are allowed at levels agents and lenient; all others are one problem that names them", () => {
  const { findings } = parse(
    "---\nname: pdf\ndescription: x\nmodel: opus\norigin: me\nversion: 1.0.0\ntags: pdf\nuser-invocable: no way\n---\n",
  );
  const shown = (level: Level): string[] =>
    toProblems(findings, level).map(({ line, severity, code }) => `${line} ${severity} ${code}`);
  expect(shown("spec")).toEqual(["4 error field-unexpected", "5 error field-unexpected"]);
  expect(shown("agents")).toEqual(["5 warning field-unexpected", "8 warning field-not-boolean"]);
  expect(shown("lenient")).toEqual(["5 warning field-unexpected", "8 warning field-not-boolean"]);
  expect(findings.slice(0, 2).map(({ message, fix }) => [message, fix])).toEqual([
    [
      "fields of some agents, not of the specification: `model`, `version` and `user-invocable`",
      "Check with --level agents, or move them under `metadata:`.",
    ],
    ["fields that no agent is known to document: `origin` and `tags`", "Move them under `metadata:`, or remove them."],
  ]);
});

test("what agents document below metadata, and what is read of it, is no problem at level agents", () => {
  const { findings } = parse(
    "---\nname: pdf\ndescription: x\nmetadata:\n  openclaw:\n    emoji: x\n  requires: [git]\n  tags: [a]\n---\n",
  );
  const nested = (level: Level): number[] =>
    toProblems(findings, level).flatMap(({ line, code }) => (code === "metadata-nested-value" ? [line] : []));
  expect(nested("spec")).toEqual([5, 7, 8]);
  expect(nested("agents")).toEqual([8]);
});
