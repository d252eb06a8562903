import fc from "fast-check";
import { expect, test } from "vitest";
import { type AgentFacts, factsOf, spell } from "../../../../src/acp/negotiation/agents.ts";
import { approve } from "../../../../src/acp/relay/interceptor/permissions.ts";
import { servedTools } from "../../../../src/wire/tools.ts";

/** Every agent of which it is known how it names tools, by the name that it gives. */
const names = [
  ...["@agentclientprotocol/claude-agent-acp", "OpenCode", "Kilo", "auggie", "@agentclientprotocol/codex-acp"],
  ...["gemini-cli", "qwen-code", "Copilot", "Kimi Code CLI", "someone"],
];
const agent = fc.constantFrom(...names).map((name) => factsOf(name));
const ours = fc.constantFrom(...servedTools.keys());
const spellings = ({ tools }: AgentFacts): readonly string[] =>
  tools?.forEditor ?? ["mcp__{word}__{tool}", "{word}_{tool}", "{word}-{tool}", "{tool}_{word}"];

const once = { optionId: "proceed_once", kind: "allow_once", name: "Allow" };
const options = [once, { optionId: "no", kind: "reject_once", name: "No" }];
/** The content that an agent adds to requests for a tool; none for most agents. */
const added = ({ adds, tools }: AgentFacts, server: string, tool: string): object[] => {
  const text = adds.find((one) => one.includes("{tool}"));
  if (text === undefined || tools === undefined) return [];
  const said = text.replace("{tool}", spell(tools.forModel, server, tool));
  return [{ type: "content", content: { type: "text", text: said } }];
};

interface Asked {
  readonly facts: AgentFacts;
  readonly server?: string;
  readonly tool: string;
  readonly others?: readonly string[];
  readonly more?: object;
}

/** What each agent sends: where a name is given, it is the name, otherwise the title. */
function ask({ facts, server = "skills", tool, others = [], more = {} }: Asked): ReturnType<typeof approve>[] {
  return spellings(facts).flatMap((spelling) => {
    const called = spell(spelling, server, tool);
    const base = { toolCallId: "c", kind: "other", rawInput: {}, content: added(facts, server, tool) };
    return [
      { ...base, name: called, title: called },
      { ...base, title: called },
      { ...base, title: "{}", _meta: { toolName: called } },
    ].map((toolCall) =>
      approve(
        { toolCall: { ...toolCall, ...more }, options },
        { server: { name: "skills", others }, facts, known: undefined },
      ),
    );
  });
}

test.each(names)("allows a read of ours as %s names it", (name) => {
  const answers = ask({ facts: factsOf(name), tool: "list_skills" });
  expect(answers).toContainEqual({ tool: "list_skills", optionId: "proceed_once" });
});

/** Names that are near ours, and any others. */
const word = fc.oneof(
  fc.constantFrom(
    "skills",
    "skills_list",
    "skills__list",
    "list_skills",
    "skills-acp",
    "x_skills",
    "Skills",
    "skills ",
  ),
  fc.string({ unit: fc.constantFrom("s", "k", "i", "l", "_", "-", ".", "(", ")", " ") }),
  fc.string(),
);

test("no tool of another server is allowed, however it and the server are named", () => {
  const tool = fc.oneof(ours, fc.constantFrom("skills", "skill_file", "list", "blob"), word);
  fc.assert(
    fc.property(agent, word, tool, (facts, server, name) => {
      fc.pre(server !== "skills");
      const answers = ask({ facts, server, tool: name, others: [server] });
      expect(answers.every((answer) => answer === undefined)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test("a name that another server's tool has in another agent's spelling is not taken from an unknown agent", () => {
  const asked = { facts: factsOf("someone"), tool: "list_skills" };
  const isAllowed = (others: string[]): boolean => ask({ ...asked, others }).some((answer) => answer !== undefined);
  expect([isAllowed([]), isAllowed(["files"])]).toEqual([true, true]);
  // `{server}_{tool}` of this server's tool `skills` is `{tool}_{server}` of ours.
  const toolCall = { toolCallId: "c", title: "list_skills_skills", kind: "other", rawInput: {} };
  const context = (others: string[]) => ({ server: { name: "skills", others }, facts: asked.facts, known: undefined });
  expect(approve({ toolCall, options }, context(["list_skills"]))).toBeUndefined();
  expect(approve({ toolCall, options }, context([]))?.tool).toBe("list_skills");
});

test("no other tool of an agent is allowed, whatever title its model chose", () => {
  const kind = fc.constantFrom("execute", "edit", "delete", "move", "switch_mode", "think", "search", "fetch");
  const title = fc
    .tuple(agent, ours)
    .chain(([facts, tool]) =>
      fc.constantFrom(
        ...spellings(facts).map((spelling) => spell(spelling, "skills", tool)),
        tool,
        servedTools.get(tool)?.title ?? tool,
      ),
    );
  const input = fc.oneof(
    fc.record({ command: fc.string() }),
    fc.record({ summary: fc.string(), path: fc.string() }),
    fc.dictionary(fc.constantFrom("command", "cwd", "url", "patch"), fc.string(), { minKeys: 1 }),
  );
  fc.assert(
    fc.property(agent, kind, title, input, (facts, chosen, text, rawInput) => {
      const context = { server: { name: "skills", others: [] }, facts, known: undefined };
      const toolCall = { toolCallId: "c", title: text, rawInput };
      for (const more of [{ kind: chosen }, { kind: "other" }, {}, { name: "Bash" }, { _meta: { toolName: "shell" } }])
        expect(approve({ toolCall: { ...toolCall, ...more }, options }, context)).toBeUndefined();
      const shown = [{ type: "content", content: { type: "text", text: JSON.stringify(rawInput) } }];
      const untold = { toolCallId: "c", title: text, content: shown };
      expect(approve({ toolCall: untold, options }, context)).toBeUndefined();
    }),
    { numRuns: 1_000 },
  );
});

const option = fc.record({
  optionId: fc.constantFrom("proceed_once", "once", "always", "proceed_once_and_switch_to_default", "plan_mode", "no"),
  kind: fc.constantFrom("allow_once", "allow_once", "allow_always", "reject_once", "_other"),
  name: fc.constantFrom(
    ...["Allow", "Allow once", "Approve for this session", "Yes, and auto-accept edits", "No"],
    ...["Switch to Default Mode and allow once (recommended)", "Yes, restore previous mode (plan)"],
  ),
});
const changesMore = /mode|switch|session|always|auto/i;

test("only an option that allows once and nothing else is taken, and only if no other could be meant", () => {
  fc.assert(
    fc.property(agent, fc.array(option, { maxLength: 5 }), (facts, offered) => {
      const toolCall = {
        toolCallId: "c",
        name: spell(spellings(facts)[0] ?? "", "skills", "list_skills"),
        rawInput: {},
        content: added(facts, "skills", "list_skills"),
      };
      const context = { server: { name: "skills", others: [] }, facts, known: undefined };
      const answer = approve({ toolCall, options: offered }, context)?.optionId;
      const allowing = offered.filter(({ kind }) => kind === "allow_once");
      const [chosen, ...more] = allowing.filter(
        ({ optionId }) => allowing.length === 1 || optionId === facts.allowsOnce,
      );
      const isPlain =
        chosen !== undefined &&
        more.length === 0 &&
        !changesMore.test(`${chosen.optionId} ${chosen.name}`) &&
        offered.filter(({ optionId }) => optionId === chosen.optionId).length === 1;
      expect(answer).toBe(isPlain ? chosen.optionId : undefined);
    }),
    { numRuns: 2_000 },
  );
});

test("the id of one of our calls allows no other call that has it too", () => {
  const reused = fc.record(
    {
      name: fc.constantFrom("Bash", "mcp__other__list_skills", "mcp__skills__run_code"),
      title: fc.constantFrom("rm -r x", "list_skills of other", "mcp__skills__read_blob"),
      kind: fc.constantFrom("execute", "edit", "delete"),
      rawInput: fc.constantFrom({ command: "rm" }, { query: "other" }),
      locations: fc.constant([{ path: "/etc/passwd" }]),
      content: fc.constant([{ type: "diff", path: "/etc/passwd", oldText: "", newText: "" }]),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(agent, reused, (facts, more) => {
      fc.pre(Object.keys(more).length > 0);
      const known = { tool: "list_skills", input: { query: "ours" } };
      const context = { server: { name: "skills", others: ["other"] }, facts, known };
      expect(approve({ toolCall: { toolCallId: "c", ...more }, options }, context)).toBeUndefined();
    }),
  );
});
