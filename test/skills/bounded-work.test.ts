import { load } from "js-yaml";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { factsOf } from "../../src/acp/negotiation/agents.ts";
import { findInvocation } from "../../src/acp/relay/interceptor/amend-prompt.ts";
import { toIndex } from "../../src/acp/service/prompt/skill-index.ts";
import { safeText } from "../../src/cli/report/safe-text.ts";
import { fixSkill } from "../../src/skills/check/fix-files.ts";
import { parseSkill } from "../../src/skills/manifest/parse-skill.ts";
import { readSkillDocument } from "../../src/skills/document.ts";
import { typedFrontmatter } from "../../src/runtime/tools/describe_skill.ts";

vi.mock(import("js-yaml"), async (importOriginal) => {
  const original = await importOriginal();
  return { ...original, load: vi.fn(original.load) };
});

const parsed = vi.mocked(load).mock.calls;
beforeEach(() => {
  parsed.length = 0;
});

const size = 255 * 1024;
const repeat = (line: (index: number) => string, length = size): string => {
  let text = "";
  for (let index = 0; text.length < length; index++) text += line(index);
  return text;
};

const shapes: Record<string, (length?: number) => string> = {
  keys: (length) => repeat((index) => `k${index}: 1\n`, length),
  "keys with values to quote": (length) => repeat((index) => `k${index}: a: b\n`, length),
  "quoted keys": (length) => repeat((index) => `"k${index}": 1\n`, length),
  "duplicate keys": (length) => repeat(() => "k: 1\n", length),
  "duplicate keys in a mapping": (length) => `m:\n${repeat(() => "  k: 1\n", length)}`,
  "keys in metadata": (length) => `metadata:\n${repeat((index) => `  k${index}: []\n`, length)}`,
  "keys in flow metadata": (length) => `metadata: {${repeat((index) => `k${index}: [], `, length)}}\n`,
  aliases: (length) => `a: &a x\n${repeat((index) => `k${index}: *a\n`, length)}`,
  "undefined aliases": (length) => repeat((index) => `k${index}: *a\n`, length),
  anchors: (length) => repeat((index) => `k${index}: &a${index} x\n`, length),
  tags: (length) => repeat((index) => `k${index}: !x y\n`, length),
  "unclosed quotes": (length) => repeat((index) => `k${index}: "x\n`, length),
  "text in one unclosed quote": (length) => `a: "${repeat(() => "x ", length)}`,
  "unknown escape sequences": (length) => `a: "${repeat(() => "\\q", length)}"\n`,
  "escaped quotes": (length) => `a: "${repeat(() => '\\"', length)}"\n`,
  "spaces inside a key": (length) => `x: [\na${repeat(() => " ", length)}b\n`,
  "tabs inside a key": (length) => `x: [\na${repeat(() => "\t", length)}b\n`,
  "spaces after a value": (length) => `a: b: c${repeat(() => " ", length)}x\n`,
  "deep indentation": (length) => `m:\n${" ".repeat(length ?? size)}a: b\n`,
  "tab indentation": (length) => `m:\n${"\t".repeat(length ?? size)}a: b\n`,
  "nested mappings": (length) => repeat((index) => `${" ".repeat(index)}a:\n`, length),
  "nested flow lists": (length) => `a: ${"[".repeat(length ?? size)}`,
  "items of a flow list": (length) => `a: [${repeat(() => "x,", length)}x]\n`,
  "items of an unclosed flow list": (length) => `a: [${repeat(() => "x,", length)}`,
  "list items": (length) => `a:\n${repeat(() => "- x\n", length)}`,
  "invalid list items": (length) => `a:\n${repeat(() => "- x: y: z\n", length)}`,
  "folded lines": (length) => `description: x\n${repeat(() => "  y\n", length)}`,
  "stray lines": (length) => `a: b: c\n${repeat(() => "]\n!x\n", length)}`,
  documents: (length) => repeat(() => "a: b\n...\n", length),
  "carriage returns": (length) => repeat(() => "a: b\r", length),
  "combining accents in a name": (length) => `name: a${repeat(() => "\u0301\u0316", (length ?? size) / 2)}\n`,
  "blank lines": (length) => repeat(() => "\n", length),
  "whitespace lines": (length) => repeat(() => " \t\n", length),
  "no-break spaces": (length) => repeat(() => "\u00a0", length),
  "line separators": (length) => repeat(() => "\u2028", length),
  "byte order marks and letters": (length) => repeat(() => "\ufeffx", length),
  "zero width spaces": (length) => `description: ${repeat(() => "\u200b", length)}\n`,
  "joined emoji": (length) => `description: ${repeat(() => "👩\u200d", length)}\n`,
  "Unicode tags": (length) => `description: ${repeat(() => "\u{e0041}", length)}\n`,
  "comments after values": (length) => repeat((index) => `k${index}: a #b\n`, length),
  "block indicators before text": (length) => repeat((index) => `k${index}: | a b\n`, length),
  "lines of a quoted value": (length) => `k: 'a\n${repeat(() => "b c\n", length)}'\n`,
  "lines of an unclosed quoted value": (length) => `k: 'a\n${repeat(() => "b c\n", length)}`,
  "quotes inside quotes": (length) => `k: "${repeat(() => 'a "b" ', length)}"\n`,
  "keys indented below values": (length) => repeat((index) => `k${index}: x\n name: y\n`, length),
  "one-letter host labels": (length) => `metadata:\n  acp-skills-network: https://${repeat(() => "a.", length)}!\n`,
  "emoji in a description": (length) => `description: ${repeat(() => "😀", (length ?? size) / 2)}\n`,
  "many tools": (length) => `allowed-tools: ${repeat(() => "a(b, ", length)}\n`,
};

const toText = (body: string): string => `---\nname: pdf\ndescription: x\n${body}\n---\nbody\n`;
const parse = (text: string) =>
  parseSkill({ directory: "/pdf", expectedName: "pdf", file: "/pdf/SKILL.md", head: Buffer.from(text), whole: true });

test.each(Object.entries(shapes))(
  "255 KiB of %s produce a bounded number of findings and bounded parser input",
  (_name, shape) => {
    const text = toText(shape());
    const { findings } = parse(text);
    expect(parsed.reduce((sum, [source]) => sum + source.length, 0)).toBeLessThanOrEqual(32 * 1024);
    expect(parsed.length).toBeLessThanOrEqual(65);
    const codes = findings.map(({ code }) => code);
    for (const code of codes) expect(codes.filter((other) => other === code).length).toBeLessThanOrEqual(20);
    expect(JSON.stringify(findings).length).toBeLessThan(100_000);
  },
);

const milliseconds = (work: () => unknown): number => {
  const { user } = process.cpuUsage();
  work();
  return process.cpuUsage({ user, system: 0 }).user / 1000;
};

const readers: Record<string, (text: string) => unknown> = {
  parseSkill: parse,
  readSkillDocument,
  typedFrontmatter: (text) => typedFrontmatter(Buffer.from(text)),
  fixSkill: (text) => fixSkill(text, { expectedName: "pdf" }),
  safeText,
  toIndex: (text) =>
    toIndex(new Map([["pdf", { description: text, file: "/pdf/SKILL.md", isOfProject: true }]]), {
      facts: factsOf(""),
      server: "",
      reach: "tools",
    }),
  findInvocation: (text) => findInvocation([{ type: "text", text: `/pdf${text}` }]),
};

describe.each(Object.entries(readers))("%s", (_reader, read) => {
  test.each(Object.entries(shapes))("takes time linear in the amount of %s", (_name, shape) => {
    const [small, large] = [toText(shape(size / 16)), toText(shape(size / 2))];
    // Times below 4 ms are too short to measure and count as 4 ms. Two retries absorb interference by other processes.
    const growth = (): number =>
      milliseconds(() => read(large)) /
      Math.max(
        milliseconds(() => read(small)),
        4,
      );
    expect(growth() < 40 || growth() < 40 || growth() < 40).toBe(true);
  });
});

test("limits the parser calls of a search for fixes", () => {
  const text = toText(repeat((index) => `k${index}: !x y\n`));
  expect(fixSkill(text, { expectedName: "pdf" }).fixed).toEqual([]);
  expect(parsed.length).toBeLessThanOrEqual(5 * 65);
});

test("reports at most 20 findings per rule, the last with the number of omitted ones", () => {
  const { skill, findings } = parse(toText(`metadata:\n${repeat((index) => `  k${index}: [1]\n`, 400)}`));
  expect(skill?.slug).toBe("pdf");
  const nested = findings.filter(({ code }) => code === "metadata-nested-value");
  expect(nested).toHaveLength(20);
  expect(nested.at(-1)?.message).toMatch(/; and \d+ more of this kind$/);
});

test("names at most 20 of many unknown fields, in one finding", () => {
  const { findings } = parse(toText(repeat((index) => `k${index}: 1\n`, 400)));
  expect(findings).toHaveLength(1);
  expect(findings[0]?.message.length).toBeLessThan(1_000);
});
