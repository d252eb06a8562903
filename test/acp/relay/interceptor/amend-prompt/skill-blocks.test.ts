import fc from "fast-check";
import { expect, test } from "vitest";
import { amendLine } from "../../../../../src/acp/relay/amend-line.ts";
import { amendValue } from "../../../../../src/acp/messages/amend.ts";
import { findSkillBlocks, replaceBlocks } from "../../../../../src/acp/relay/interceptor/amend-prompt/skill-blocks.ts";
import type { Invoked, InvocationForm } from "../../../../../src/acp/skill-service.ts";

type Block = Readonly<Record<string, unknown>>;

const text = (words: string): Block => ({ type: "text", text: words });
const skill = (name: unknown): Block => ({ type: "skill", name });
const image: Block = { type: "image", data: "AAAA", mimeType: "image/png" };
const without = { takesResources: false, ownBlocks: "nowhere" } as const;

const ours = (slug: string, body = `How to ${slug}.`): Invoked => ({
  slug,
  directory: `/skills/${slug}`,
  file: `/skills/${slug}/SKILL.md`,
  instructions: { body, truncated: false, files: [], moreFiles: false, changedAt: 0 },
});

/** The prompt that the agent gets, or the error that the editor gets. Both ways of amending must agree. */
async function sent(
  prompt: readonly Block[],
  skills: Readonly<Record<string, Invoked>>,
  negotiation: Parameters<typeof replaceBlocks>[2] = without,
  asked: [name: string, form: InvocationForm][] = [],
): Promise<readonly Block[] | string> {
  const result = await replaceBlocks(prompt, findSkillBlocks(prompt), negotiation, (name, form) => {
    asked.push([name, form]);
    return Promise.resolve(skills[name]);
  });
  if ("code" in result) return `${result.code} ${result.message}`;
  const message = { params: { prompt } };
  const amended = amendValue(message, result) as { params: { prompt: Block[] } };
  expect(JSON.parse(amendLine(Buffer.from(JSON.stringify(message)), result).toString())).toEqual(amended);
  return amended.params.prompt;
}

/** A prompt in few words: each text, `[slug]` for the text of a skill. */
const brief = (prompt: readonly Block[] | string): readonly unknown[] | string =>
  typeof prompt === "string"
    ? prompt
    : prompt.map((block) => {
        const given = typeof block["text"] === "string" ? block["text"] : undefined;
        return /acp-skills skill="([^"]+)"/.exec(given ?? "")?.[1]?.replace(/.+/, "[$&]") ?? given?.trim() ?? block;
      });

test("gives a block at the start the words after it, then the skill's text, as /name does", async () => {
  expect(brief(await sent([skill("pdf"), text("read a.pdf")], { pdf: ours("pdf") }))).toEqual([
    'Use the skill "pdf": read a.pdf',
    "[pdf]",
  ]);
  expect(brief(await sent([skill("pdf")], { pdf: ours("pdf") }))).toEqual(['Use the skill "pdf".', "[pdf]"]);
  expect(brief(await sent([skill("pdf"), image, text("this")], { pdf: ours("pdf") }))).toEqual([
    'Use the skill "pdf": this',
    "[pdf]",
    image,
  ]);
});

test("takes blocks anywhere, any number of times, and gives each skill's text once", async () => {
  const skills = { pdf: ours("pdf"), csv: ours("csv") };
  const prompt = [text("First"), skill("csv"), text("then"), skill("pdf"), image, skill("csv"), text("end")];
  expect(brief(await sent(prompt, skills))).toEqual([
    "First",
    'Use the skill "csv".',
    "[csv]",
    "then",
    'Use the skill "pdf".',
    "[pdf]",
    image,
    'Use the skill "csv".',
    "end",
  ]);
  expect(brief(await sent([skill("pdf"), skill("csv"), text("both")], skills))).toEqual([
    'Use the skill "pdf".',
    "[pdf]",
    'Use the skill "csv".',
    "[csv]",
    "both",
  ]);
});

test("keeps the other fields of the words, and fills placeholders with the text of the whole prompt", async () => {
  const prompt = [text("a"), skill("pdf"), { ...text("b"), _meta: { kept: 1 } }];
  const amended = await sent(prompt, { pdf: ours("pdf", "Do <$ARGUMENTS>.") });
  expect(amended[2]).toMatchObject({ text: expect.stringContaining("Do <a\nb>.") as unknown });
  expect((await sent([skill("pdf"), { ...text("b"), _meta: { kept: 1 } }], { pdf: ours("pdf") }))[0]).toMatchObject({
    _meta: { kept: 1 },
  });
});

test("becomes the agent's own form of its own skill, where that agent takes no blocks", async () => {
  const skills: Record<string, Invoked> = { $pdf: { command: "$pdf" }, csv: { command: "csv" } };
  expect(brief(await sent([skill("$pdf"), text("x")], skills))).toEqual(["$pdf x"]);
  expect(brief(await sent([skill("csv")], skills))).toEqual(["/csv"]);
});

test("asks for the text of an agent's skill where its command cannot stand", async () => {
  const asked: [string, InvocationForm][] = [];
  await sent([text("a"), skill("csv")], { csv: ours("csv") }, without, asked);
  await sent([skill("csv"), text("a"), skill("pdf")], { csv: ours("csv"), pdf: ours("pdf") }, without, asked);
  await sent([skill("csv")], { csv: ours("csv") }, without, asked);
  expect(asked).toEqual([
    ["csv", "text"],
    ["csv", "text"],
    ["pdf", "text"],
    ["csv", "block"],
  ]);
});

test("passes blocks of the agent's own skills to an agent that takes blocks, and those that only it can know", async () => {
  const takesBlocks = { takesResources: false, ownBlocks: "anywhere" } as const;
  const prompt = [skill("csv"), text("a"), skill("pdf"), skill("theirs"), skill(7)];
  expect(brief(await sent(prompt, { csv: { command: "csv" }, pdf: ours("pdf") }, takesBlocks))).toEqual([
    skill("csv"),
    "a",
    'Use the skill "pdf".',
    "[pdf]",
    skill("theirs"),
    skill(7),
  ]);
});

test.each<[string, readonly Block[], Readonly<Record<string, Invoked>>, RegExp]>([
  ["no name", [{ type: "skill" }], {}, /^-32602 prompt\/0: a skill block needs the name of a skill/],
  ["a name of the wrong type", [text("a"), skill(7)], {}, /^-32602 prompt\/1: a skill block needs/],
  ["an empty name", [skill("")], {}, /^-32602 prompt\/0: a skill block needs/],
  ["a very long name", [skill("a".repeat(129))], {}, /^-32602 prompt\/0: a skill block needs/],
  [
    "a path for a name",
    [skill("/skills/pdf/SKILL.md")],
    { pdf: ours("pdf") },
    /^-32602 prompt\/0: there is no skill \/skills\/pdf\/SKILL\.md in this session's list/,
  ],
  ["an unknown skill", [skill("pdf"), skill("x")], { pdf: ours("pdf") }, /^-32602 prompt\/1: there is no skill x in/],
  [
    "a skill whose name is a command of the agent",
    [skill("init")],
    { init: { refused: "the agent has a command of its own with this name" } },
    /^-32602 prompt\/0: the skill init cannot be invoked: the agent has a command/,
  ],
  [
    "too many skills",
    Array.from({ length: 65 }, (_, index) => skill(`s${index}`)),
    {},
    /^-32602 A prompt can invoke 64 skills; this one names 65\.$/,
  ],
])("refuses a prompt as a whole with a block of %s, naming the place", async (_case, prompt, skills, message) => {
  expect(await sent(prompt, skills)).toMatch(message);
});

test("leaves every other block as it is and in its order, whatever the prompt is", async () => {
  const block = fc.oneof(
    fc.string().map(text),
    fc.constantFrom("pdf", "csv").map(skill),
    fc.integer().map((number) => ({ type: "resource_link", uri: `file:///${number}` })),
  );
  const skills = { pdf: ours("pdf"), csv: ours("csv") };
  await fc.assert(
    fc.asyncProperty(fc.array(block, { maxLength: 12 }), async (prompt: Block[]) => {
      const amended = await sent(prompt, skills);
      const links = (blocks: readonly Block[]): unknown[] => blocks.filter(({ type }) => type === "resource_link");
      expect(links(amended as Block[])).toEqual(links(prompt));
      expect(findSkillBlocks(amended)).toEqual([]);
      const said = JSON.stringify(amended);
      for (const { name } of findSkillBlocks(prompt)) expect(said).toContain(`skill=\\"${String(name)}\\"`);
    }),
  );
});
