import { load } from "js-yaml";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { factsOf } from "../../src/acp/session/agents.ts";
import { findInvocation } from "../../src/acp/prompt/prompt.ts";
import { toLesson } from "../../src/acp/prompt/teaching.ts";
import { safeText } from "../../src/cli/report/safe-text.ts";
import { fixSkill } from "../../src/skills/rules/fix-skill.ts";
import { parseSkill } from "../../src/skills/manifest/parse-skill.ts";
import { readSkillDocument } from "../../src/skills/text/skill-document.ts";
import { typedFrontmatter } from "../../src/tools/answers/typed-frontmatter.ts";

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
  "keys to quote": (length) => repeat((index) => `k${index}: a: b\n`, length),
  "keys in quotes": (length) => repeat((index) => `"k${index}": 1\n`, length),
  "equal keys": (length) => repeat(() => "k: 1\n", length),
  "equal keys in a mapping": (length) => `m:\n${repeat(() => "  k: 1\n", length)}`,
  "keys in metadata": (length) => `metadata:\n${repeat((index) => `  k${index}: []\n`, length)}`,
  "keys in flow metadata": (length) => `metadata: {${repeat((index) => `k${index}: [], `, length)}}\n`,
  aliases: (length) => `a: &a x\n${repeat((index) => `k${index}: *a\n`, length)}`,
  "aliases to nothing": (length) => repeat((index) => `k${index}: *a\n`, length),
  anchors: (length) => repeat((index) => `k${index}: &a${index} x\n`, length),
  tags: (length) => repeat((index) => `k${index}: !x y\n`, length),
  "open quotes": (length) => repeat((index) => `k${index}: "x\n`, length),
  "one open quote": (length) => `a: "${repeat(() => "x ", length)}`,
  "escapes of nothing": (length) => `a: "${repeat(() => "\\q", length)}"\n`,
  "escaped quotes": (length) => `a: "${repeat(() => '\\"', length)}"\n`,
  "blanks within a key": (length) => `x: [\na${repeat(() => " ", length)}b\n`,
  "tabs within a key": (length) => `x: [\na${repeat(() => "\t", length)}b\n`,
  "blanks behind a value": (length) => `a: b: c${repeat(() => " ", length)}x\n`,
  "deep indentation": (length) => `m:\n${" ".repeat(length ?? size)}a: b\n`,
  "indentation by tabs": (length) => `m:\n${"\t".repeat(length ?? size)}a: b\n`,
  "mappings within mappings": (length) => repeat((index) => `${" ".repeat(index)}a:\n`, length),
  "flow lists within flow lists": (length) => `a: ${"[".repeat(length ?? size)}`,
  "a flow list": (length) => `a: [${repeat(() => "x,", length)}x]\n`,
  "an open flow list": (length) => `a: [${repeat(() => "x,", length)}`,
  "list items": (length) => `a:\n${repeat(() => "- x\n", length)}`,
  "broken list items": (length) => `a:\n${repeat(() => "- x: y: z\n", length)}`,
  "folded lines": (length) => `description: x\n${repeat(() => "  y\n", length)}`,
  "stray lines": (length) => `a: b: c\n${repeat(() => "]\n!x\n", length)}`,
  documents: (length) => repeat(() => "a: b\n...\n", length),
  "carriage returns": (length) => repeat(() => "a: b\r", length),
  "a name of accents": (length) => `name: a${repeat(() => "\u0301\u0316", (length ?? size) / 2)}\n`,
  "blank lines": (length) => repeat(() => "\n", length),
  "lines of blanks": (length) => repeat(() => " \t\n", length),
  "no-break spaces": (length) => repeat(() => "\u00a0", length),
  "line separators": (length) => repeat(() => "\u2028", length),
  "marks and letters": (length) => repeat(() => "\ufeffx", length),
  "zero width spaces": (length) => `description: ${repeat(() => "\u200b", length)}\n`,
  "joined emoji": (length) => `description: ${repeat(() => "👩\u200d", length)}\n`,
  "Unicode tags": (length) => `description: ${repeat(() => "\u{e0041}", length)}\n`,
  "comments behind values": (length) => repeat((index) => `k${index}: a #b\n`, length),
  "block indicators before text": (length) => repeat((index) => `k${index}: | a b\n`, length),
  "quotes that go on": (length) => `k: 'a\n${repeat(() => "b c\n", length)}'\n`,
  "quotes that go on and never close": (length) => `k: 'a\n${repeat(() => "b c\n", length)}`,
  "quotes inside quotes": (length) => `k: "${repeat(() => 'a "b" ', length)}"\n`,
  "keys indented below values": (length) => repeat((index) => `k${index}: x\n name: y\n`, length),
  "hosts of one letter": (length) => `metadata:\n  acp-skills-network: https://${repeat(() => "a.", length)}!\n`,
  "a long description": (length) => `description: ${repeat(() => "😀", (length ?? size) / 2)}\n`,
  "many tools": (length) => `allowed-tools: ${repeat(() => "a(b, ", length)}\n`,
};

const toText = (body: string): string => `---\nname: pdf\ndescription: x\n${body}\n---\nbody\n`;
const parse = (text: string) =>
  parseSkill({ directory: "/pdf", expectedName: "pdf", file: "/pdf/SKILL.md", head: Buffer.from(text), whole: true });

test.each(Object.entries(shapes))("255 KiB of %s say little, and little of it is given to a parser", (_name, shape) => {
  const text = toText(shape());
  const { findings } = parse(text);
  expect(parsed.reduce((sum, [source]) => sum + source.length, 0)).toBeLessThanOrEqual(32 * 1024);
  expect(parsed.length).toBeLessThanOrEqual(65);
  const codes = findings.map(({ code }) => code);
  for (const code of codes) expect(codes.filter((other) => other === code).length).toBeLessThanOrEqual(20);
  expect(JSON.stringify(findings).length).toBeLessThan(100_000);
});

const milliseconds = (work: () => unknown): number => {
  const { user } = process.cpuUsage();
  work();
  return process.cpuUsage({ user, system: 0 }).user / 1000;
};

const readers: Record<string, (text: string) => unknown> = {
  "the reader of heads": parse,
  "the reader of whole files": readSkillDocument,
  "the reader of typed values": (text) => typedFrontmatter(Buffer.from(text)),
  "the repairer": (text) => fixSkill(text, { expectedName: "pdf" }),
  "the printer of text for terminals": safeText,
  "the lesson": (text) =>
    toLesson(new Map([["pdf", { description: text, file: "/pdf/SKILL.md", isOfProject: true }]]), {
      facts: factsOf(""),
      server: "",
      reach: "tools",
    }),
  "the finder of commands in prompts": (text) => findInvocation([{ type: "text", text: `/pdf${text}` }]),
};

describe.each(Object.entries(readers))("%s", (_reader, read) => {
  test.each(Object.entries(shapes))(
    "eight times as many %s do not take much more than eight times the work",
    (_name, shape) => {
      const [small, large] = [toText(shape(size / 16)), toText(shape(size / 2))];
      // What is too little to be measured may grow as it likes, for a while; what another process disturbs is tried again.
      const growth = (): number =>
        milliseconds(() => read(large)) /
        Math.max(
          milliseconds(() => read(small)),
          4,
        );
      expect(growth() < 40 || growth() < 40 || growth() < 40).toBe(true);
    },
  );
});

test("repairs are looked for within a limit", () => {
  const text = toText(repeat((index) => `k${index}: !x y\n`));
  expect(fixSkill(text, { expectedName: "pdf" }).fixed).toEqual([]);
  expect(parsed.length).toBeLessThanOrEqual(5 * 65);
});

test("the last finding of a rule tells how many more there are", () => {
  const { skill, findings } = parse(toText(repeat((index) => `k${index}: 1\n`, 400)));
  expect(skill?.slug).toBe("pdf");
  expect(findings).toHaveLength(20);
  expect(findings.at(-1)?.message).toMatch(
    /^`k19` is not a standard field; put it under `metadata:`; and \d+ more of this kind$/,
  );
});
