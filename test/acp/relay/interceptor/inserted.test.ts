import fc from "fast-check";
import { expect, test } from "vitest";
import {
  insertedUri,
  InsertionFilter,
  restoreTitle,
  restoreTyped,
  toInserted,
  toInvocationSentence,
} from "../../../../src/acp/relay/interceptor/inserted.ts";

const body = "OUTSIDE-BODY\n\nBase directory of this skill: /skills/outside\n";
const skill = toInserted("skill", "outside", body);
const index = toInserted("index", "1a2b3c", "Skills are folders of instructions.");
const uri = insertedUri("outside");
const said = toInvocationSentence("outside", "about parsers");

/** How agents replay a prompt: each formats and joins text and resources differently. */
const retold: readonly [string, readonly string[], string][] = [
  [
    "Claude: one chunk per block",
    [`${said}\n\n`, uri, `\n<context ref="${uri}">\n${skill}\n</context>`],
    "/outside about parsers",
  ],
  ["opencode: one chunk per block", [`${said}\n\n`, `[${uri}]\n${skill}`], "/outside about parsers"],
  [
    "Codex: a link followed by the text",
    [`${said}\n\n`, `[@outside](${uri})\n<context ref="${uri}">\n${skill}\n</context>`],
    "/outside about parsers",
  ],
  [
    "Gemini CLI: everything in one text",
    [
      `${said}\n\n@${uri}\n--- Content from referenced context ---\nContent from @${uri}:\n${skill}\n--- End of content ---`,
    ],
    "/outside about parsers",
  ],
  ["qwen-code and Copilot: the user's text only", [`${said}\n\n`], "/outside about parsers"],
  ["qwen-code: a reference within the text", [`${said}\n\n@${uri}`], "/outside about parsers"],
  ["pi: everything in one text", [`${said}\n\n${skill}`], "/outside about parsers"],
  ["pi: an index", [`hello there\n\n${index}`], "hello there"],
  ["opencode: an index", ["hello there", `\n\n${index}`], "hello there"],
  ["an invocation and an index", [`${said}\n\n${skill}\n\n${index}`], "/outside about parsers"],
  ["an invocation without arguments", [`${toInvocationSentence("outside", "")}\n\n${skill}`], "/outside"],
  ["a text without insertions", ["Use the skills, <acp>\n\n[a](b) @file  "], "Use the skills, <acp>\n\n[a](b) @file  "],
];

function retell(chunks: readonly string[]): string {
  const filter = new InsertionFilter(() => undefined);
  return chunks.map((chunk) => filter.read(chunk)).join("") + filter.end();
}

test.each(retold)("restores what the user typed from a replayed prompt: %s", (_who, chunks, typed) => {
  expect(retell(chunks).trimEnd()).toBe(typed.trimEnd());
});

test.each(retold)("removes insertions for any chunking: %s", (_who, chunks, typed) => {
  const whole = chunks.join("");
  const cuts = fc.uniqueArray(fc.integer({ min: 0, max: whole.length }), { maxLength: 12 });
  // Agents that replay a bare URI send it in one chunk.
  fc.assert(
    fc.property(cuts, (places) => {
      const ends = [...places, whole.length].sort((a, b) => a - b);
      const pieces = ends.map((end, index) => whole.slice(ends[index - 1] ?? 0, end));
      expect(retell(pieces)).not.toContain("OUTSIDE-BODY");
      expect(retell(pieces)).not.toContain("Skills are folders");
      expect(retell(pieces)).not.toContain("-acp-skills ");
      if (!whole.includes("acp-skills:")) expect(retell(pieces).trimEnd()).toBe(typed.trimEnd());
    }),
  );
});

test("returns a text without insertions unchanged for any chunking", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" })), (chunks) => {
      fc.pre(!/acp-skills|Use the skill/.test(chunks.join("")));
      expect(retell(chunks)).toBe(chunks.join(""));
    }),
  );
});

test.each([
  [`hello there\n\n${index}`, "hello there"],
  [`hello there\n\n${index.slice(0, 40)}`, "hello there"],
  [`hello there ${index.replace(/\s+/g, " ").slice(0, 30)}…`, "hello there"],
  ["hello there\n\n<q7x", "hello there"],
  ["hello there <q7x2m9-acp-skills…", "hello there"],
  ["what is <acp-sk", "what is <acp-sk"],
  ["what is <acp-skills…", "what is <acp-skills…"],
  ['what is <acp-skills index="1">', 'what is <acp-skills index="1">'],
  ['Use the skill "outside": explain acp-skills to me', "/outside explain acp-skills to me"],
  [`${said} ${skill.slice(0, 20)}`, "/outside about parsers"],
  [`${said} ${uri} <context ref="${uri}">`, "/outside about parsers"],
  [`${said} acp-skills:sk…`, "/outside about parsers"],
  ['Use the skill "outside": about par…', "/outside about par…"],
  ['Use the skill "outs…', "/outs…"],
  ['Use the skill "outside".', "/outside"],
  ["A title of the agent's own", "A title of the agent's own"],
  ["a < b", "a < b"],
])("restores the title %j as %j", (title, shown) => {
  expect(restoreTitle(title)).toBe(shown);
});

const opening = index.slice(0, index.indexOf(" "));
const closing = index.slice(index.lastIndexOf("<"));
const closings = [closing, closing.toUpperCase(), closing.replace("</", "</ "), "</acp-skills>"];
const alike = fc.constantFrom(
  "<acp-skills",
  ' index="',
  ' skill="pdf">\n',
  "</acp-skills>",
  "<",
  ">",
  "`",
  "x",
  " ",
  "…",
);

test("shows what a user wrote that looks like a mark, for any chunking and in titles", () => {
  const written = fc.array(alike, { minLength: 1 }).map((parts) => `say${parts.join("")}.`);
  const cuts = fc.array(fc.nat());
  fc.assert(
    fc.property(written, cuts, (typed, places) => {
      const whole = `${typed}\n\n${index}`;
      const ends = [...places.map((place) => place % whole.length), whole.length].sort((a, b) => a - b);
      expect(retell(ends.map((end, nth) => whole.slice(ends[nth - 1] ?? 0, end))).trimEnd()).toBe(typed);
      expect(retell([typed])).toBe(typed);
      expect(restoreTitle(typed)).toBe(typed);
      for (const length of [4, 8, 20, 30, 60]) {
        const end = whole.indexOf(opening) + length;
        expect(restoreTitle(whole.slice(0, end))).toBe(typed);
        expect(restoreTitle(`${whole.slice(0, end).replace("\n\n", " ")}…`)).toBe(typed);
      }
    }),
  );
});

test("restores what the user typed if inserted text contains marks", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom(...closings, "<acp-skills", opening))), (parts) => {
      expect(restoreTyped(`hello\n\n${toInserted("skill", "x", parts.join(""))}`)).toBe("hello");
    }),
  );
});

test("reports the label of each index in a replayed prompt", () => {
  const labels: string[] = [];
  const filter = new InsertionFilter((label) => labels.push(label));
  for (const character of `hello\n\n${index}\n\n${skill}`) filter.read(character);
  expect(labels).toEqual(["1a2b3c"]);
});

test.each([
  [" ".repeat(200_000)],
  ["\n".repeat(200_000)],
  ["[".repeat(200_000)],
  ["@acp-skills:skill/x ".repeat(2_000)],
  ["acp-skills:".repeat(20_000)],
  [opening.repeat(20_000)],
  [`${closing} ${opening} x="`.repeat(10_000)],
  ["</context>".repeat(20_000)],
  [`${"\n".repeat(200_000)}x`],
])("restores a long text in linear time", (long) => {
  const before = process.cpuUsage().user;
  restoreTitle(`hello${long}${opening} acp-skills:skill/x${long}`);
  restoreTitle(`Use the skill "x": acp-skills:${long}`);
  retell([`hello${long}${opening} acp-skills:skill/x${long}`]);
  expect(process.cpuUsage().user - before).toBeLessThan(2_000_000);
});

test("holds back at most the length of a mark for an opening that never closes", () => {
  const filter = new InsertionFilter(() => undefined);
  const typed = `${opening} index="${"x".repeat(2_000_000)}`;
  let [shown, longest] = ["", 0];
  const before = process.cpuUsage().user;
  for (let start = 0; start < typed.length; start += 50) {
    shown += filter.read(typed.slice(start, start + 50));
    longest = Math.max(longest, start + 50 - shown.length);
  }
  expect(process.cpuUsage().user - before).toBeLessThan(4_000_000);
  expect(longest).toBeLessThan(1_000);
  expect(shown + filter.end()).toBe(typed);
});
