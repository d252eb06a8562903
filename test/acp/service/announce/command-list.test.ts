import { expect, test } from "vitest";
import { mergeCommands, toCommandList } from "../../../../src/acp/service/announce/command-list.ts";
import { AgentCommands, type SkillOfAgent, readsItself } from "../../../../src/acp/service/announce/native-skills.ts";
import { factsOf as factsOfAgent } from "../../../../src/acp/negotiation/agents.ts";
import { type KnownFacts, nothingKnown } from "../../../../src/wire/command-facts.ts";
import type { OfferedSkill } from "../../../../src/skills/skill.ts";
import { offer } from "../../memory-skillset.ts";

const silent = { protocol: 1, jetbrains: false, declaresSkills: false, form: "command" } as const;
const v1 = { ...silent, declaresSkills: true } as const;
const pdf = offer("pdf");
const factsOf = (): KnownFacts => nothingKnown;
const own = (name: string): { name: string; description: string } => ({ name, description: "the agent's" });
/** How these commands show a skill. */
const shownIn =
  (commands: unknown[], facts: Pick<SkillOfAgent, "kind" | "isOutdated"> = { kind: "as-skill", isOutdated: false }) =>
  ({ skill }: OfferedSkill): SkillOfAgent | undefined => {
    const found = new AgentCommands(commands).find(skill);
    return found && { ...found, ...facts };
  };
const merge = (
  commands: unknown[],
  skills = [pdf],
  dialect: Parameters<typeof mergeCommands>[1] = v1,
  facts?: Pick<SkillOfAgent, "kind" | "isOutdated">,
): readonly unknown[] =>
  toCommandList(commands, mergeCommands(skills, dialect, { shownOf: shownIn(commands, facts), factsOf }));

test("lists each skill as one command after the agent's own commands", () => {
  expect(merge([own("init")])).toEqual([
    own("init"),
    {
      name: "pdf",
      description: "What pdf does.",
      input: { hint: "what to do" },
      _meta: { "acp-skills": { version: "1.0.0", source: "/skills" } },
    },
  ]);
});

test("says in commands for an editor that said nothing about skills only what commands have", () => {
  const commands = [own("a"), { ...own("pdf"), _meta: { theirs: 1 } }, own("csv")];
  const merged = merge(commands, [pdf, offer("csv"), offer("zip")], silent);
  const zip = { name: "zip", description: "What zip does.", input: { hint: "what to do" } };
  expect(merged).toEqual([...commands, zip]);
  expect(merged.filter((command) => JSON.stringify(command).includes("_meta"))).toEqual([commands[1]]);
  const known = (): KnownFacts => ({ state: "blocked" });
  expect(mergeCommands([offer("zip")], silent, { shownOf: shownIn([]), factsOf: known }).added).toEqual([zip]);
});

test("adds a type to a command and its input in ACP v2", () => {
  expect(merge([], [pdf], { ...silent, protocol: 2 })).toMatchObject([
    { type: "command", name: "pdf", input: { type: "text", hint: "what to do" } },
  ]);
});

const entries = { ...silent, protocol: 2, form: "skill" } as const;

test("lists a skill as an entry with nothing but its type, name, description and path for an editor that takes entries", () => {
  const entry = { type: "skill", name: "pdf", description: "What pdf does.", path: pdf.skill.file };
  expect(merge([{ type: "command", ...own("init") }], [pdf], entries)).toEqual([
    { type: "command", ...own("init") },
    entry,
  ]);
});

test("makes the agent's command of a skill an entry under the agent's name, and leaves its other commands", () => {
  const commands = [own("init"), own("$pdf")].map((command) => ({ type: "command", ...command }));
  expect(merge(commands, [pdf], entries)).toEqual([
    commands[0],
    { type: "skill", name: "$pdf", description: "the agent's", path: pdf.skill.file },
  ]);
  const other = { kind: "as-other", isOutdated: false } as const;
  expect(merge([{ type: "command", ...own("pdf") }], [pdf], entries, other)).toEqual([
    { type: "command", ...own("pdf") },
  ]);
});

test.each(["pdf", "$pdf", "skill:pdf"])(
  "annotates a skill that the agent lists as %s instead of listing it twice",
  (name) => {
    const commands = [own("a"), { ...own(name), _meta: { theirs: 1 } }, own("b")];
    const facts = { ...(name !== "pdf" && { slug: "pdf" }), description: "What pdf does.", version: "1.0.0" };
    const annotated = { ...own(name), _meta: { theirs: 1, "acp-skills": { ...facts, source: "/skills" } } };
    expect(merge(commands)).toEqual([own("a"), annotated, own("b")]);
  },
);

test("annotates a skill that the agent lists by its dotted name", () => {
  expect(merge([own("a.b")], [offer("a.b")])).toMatchObject([
    { name: "a.b", _meta: { "acp-skills": { slug: "a-b", name: "a.b" } } },
  ]);
});

test("adds the kind and the path of the skill to each command for JetBrains", () => {
  const commands = [{ ...own("pdf"), _meta: { jetbrains: { other: 1 } } }];
  const merged = merge(commands, [pdf, offer("csv")], { ...v1, jetbrains: true });
  expect(merged).toMatchObject([
    { _meta: { jetbrains: { other: 1, air: { kind: "skill", skillPath: "/skills/pdf/SKILL.md" } } } },
    { _meta: { jetbrains: { air: { kind: "skill", skillPath: "/skills/csv/SKILL.md" } } } },
  ]);
});

test("keeps the metadata for JetBrains that the agent set itself", () => {
  const commands = [{ ...own("pdf"), _meta: { jetbrains: { air: { version: 3, kind: "skill", icon: "x" } } } }];
  const [command] = merge(commands, [pdf], { ...v1, jetbrains: true });
  const air = { version: 3, kind: "skill", icon: "x", skillPath: "/skills/pdf/SKILL.md" };
  expect(command).toMatchObject({ _meta: { jetbrains: { air } } });
});

test("lists a skill that was edited after the agent read it with its current description", () => {
  const merged = merge([own("pdf")], [pdf], v1, { kind: "as-skill", isOutdated: true });
  expect(merged).toMatchObject([{ name: "pdf", description: "What pdf does." }]);
});

test("keeps entries of the agent's list that are not commands", () => {
  expect(merge([null, 7, "x"], [])).toEqual([null, 7, "x"]);
});

test.each([
  [{ metadata: { "argument-hint": " <file> " } }, "<file>"],
  [{ metadata: { "argument-hint": "" } }, "what to do"],
  [{ metadata: { "argument-hint": "one\n\ttwo \u001b[2J" } }, "one two [2J"],
  [
    {
      manifest: {
        name: "a",
        version: "1.0.0",
        description: "d",
        kind: "action",
        inputs: { in: { type: "string", required: true }, out: { type: "string" } },
      },
    },
    "<in> [out]",
  ],
] as const)("takes the hint from the skill's declaration: %j", (facts, hint) => {
  expect(merge([], [offer("a", facts)])).toMatchObject([{ input: { hint } }]);
});

test("keeps an unrelated command that has a skill's name and does not list the skill", () => {
  const facts = { kind: "as-other", isOutdated: true } as const;
  expect(merge([own("pdf")], [pdf], v1, facts)).toEqual([own("pdf")]);
});

test("shows our description of a skill of which the agent lists another copy", () => {
  const merged = merge([own("pdf")], [pdf], v1, { kind: "as-copy", isOutdated: false });
  expect(merged).toMatchObject([{ description: "What pdf does.", _meta: { "acp-skills": {} } }]);
});

test.each([
  ["@agentclientprotocol/claude-agent-acp", "/p/.claude/skills", true],
  ["@agentclientprotocol/claude-agent-acp", "/p/.agents/skills", false],
  ["@agentclientprotocol/claude-agent-acp", "/home/me/.agents/skills", false],
  ["OpenCode", "/home/me/.claude/skills", true],
  ["Copilot", "/p/.claude/skills", true],
  ["Copilot", "/home/me/.claude/skills", false],
  ["gemini-cli", "/home/me/.agents/skills", true],
  ["gemini-cli", "C:\\p\\.agents\\skills", true],
  ["gemini-cli", "/shared/skills", false],
  ["someone", "/p/.agents/skills", undefined],
])("determines whether %s reads %s itself: %s", (name, root, expected) => {
  expect(readsItself(factsOfAgent(name), [root], "/home/me")).toBe(expected);
});
