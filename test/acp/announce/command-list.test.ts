import { expect, test } from "vitest";
import { mergeCommands, toCommandList } from "../../../src/acp/announce/command-list.ts";
import { offer } from "../memory-skillset.ts";

const v1 = { protocol: 1, jetbrains: false } as const;
const pdf = offer("pdf");
const own = (name: string): { name: string; description: string } => ({ name, description: "the agent's" });
const merge = (
  commands: unknown[],
  skills = [pdf],
  dialect: { protocol: 1 | 2; jetbrains: boolean } = v1,
): readonly unknown[] =>
  toCommandList(commands, mergeCommands(commands, skills, dialect, { isOutdated: () => false, how: () => "as-skill" }));

test("a skill is one command, after the agent's own", () => {
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

test("in v2 a command and its input carry a type", () => {
  expect(merge([], [pdf], { protocol: 2, jetbrains: false })).toMatchObject([
    { type: "command", name: "pdf", input: { type: "text", hint: "what to do" } },
  ]);
});

test.each(["pdf", "$pdf", "skill:pdf"])("a skill that the agent shows as %s is annotated, not listed twice", (name) => {
  const commands = [own("a"), { ...own(name), _meta: { theirs: 1 } }, own("b")];
  const facts = { ...(name !== "pdf" && { slug: "pdf" }), description: "What pdf does.", version: "1.0.0" };
  const annotated = { ...own(name), _meta: { theirs: 1, "acp-skills": { ...facts, source: "/skills" } } };
  expect(merge(commands)).toEqual([own("a"), annotated, own("b")]);
});

test("a dotted skill that the agent shows by its dotted name is annotated too", () => {
  expect(merge([own("a.b")], [offer("a.b")])).toMatchObject([
    { name: "a.b", _meta: { "acp-skills": { slug: "a-b", name: "a.b" } } },
  ]);
});

test("for JetBrains each command says that it is a skill, and where it lies", () => {
  const commands = [{ ...own("pdf"), _meta: { jetbrains: { other: 1 } } }];
  const merged = merge(commands, [pdf, offer("csv")], { protocol: 1, jetbrains: true });
  expect(merged).toMatchObject([
    { _meta: { jetbrains: { other: 1, air: { kind: "skill", skillPath: "/skills/pdf/SKILL.md" } } } },
    { _meta: { jetbrains: { air: { kind: "skill", skillPath: "/skills/csv/SKILL.md" } } } },
  ]);
});

test("an agent's own words for JetBrains stay", () => {
  const commands = [{ ...own("pdf"), _meta: { jetbrains: { air: { version: 3, kind: "skill", icon: "x" } } } }];
  const [command] = merge(commands, [pdf], { protocol: 1, jetbrains: true });
  const air = { version: 3, kind: "skill", icon: "x", skillPath: "/skills/pdf/SKILL.md" };
  expect(command).toMatchObject({ _meta: { jetbrains: { air } } });
});

test("a skill that was edited since the agent read it is shown as it is now", () => {
  const merged = toCommandList(
    [own("pdf")],
    mergeCommands([own("pdf")], [pdf], v1, { isOutdated: () => true, how: () => "as-skill" }),
  );
  expect(merged).toMatchObject([{ name: "pdf", description: "What pdf does." }]);
});

test("what the agent lists beside commands stays as it is", () => {
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
] as const)("the hint comes from what the skill declares: %j", (facts, hint) => {
  expect(merge([], [offer("a", facts)])).toMatchObject([{ input: { hint } }]);
});

test("a command of the agent's that only has a skill's name stays as it is, and the skill is not listed beside it", () => {
  const how = () => "as-other" as const;
  expect(toCommandList([own("pdf")], mergeCommands([own("pdf")], [pdf], v1, { isOutdated: () => true, how }))).toEqual([
    own("pdf"),
  ]);
});

test("of a skill that the agent read elsewhere, what is shown is what we run", () => {
  const how = () => "as-copy" as const;
  const merged = mergeCommands([own("pdf")], [pdf], v1, { isOutdated: () => false, how });
  expect(toCommandList([own("pdf")], merged)).toMatchObject([
    { description: "What pdf does.", _meta: { "acp-skills": {} } },
  ]);
});
