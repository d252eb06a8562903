import fc from "fast-check";
import { expect, test } from "vitest";
import { approve } from "../../src/acp/approval.ts";
import { servedTools } from "../../src/acp/served-tools.ts";

const options = [
  { optionId: "always", kind: "allow_always", name: "Always" },
  { optionId: "once", kind: "allow_once", name: "Once" },
  { optionId: "no", kind: "reject_once", name: "No" },
];
const ours = { name: "skills", others: [] };
const claude = (tool: string, more: object = {}): object => ({
  toolCallId: "1",
  name: `mcp__skills__${tool}`,
  title: `mcp__skills__${tool}`,
  kind: "other",
  rawInput: {},
  ...more,
});
const opencode = (tool: string, more: object = {}): object => ({
  toolCallId: "1",
  title: `skills_${tool}`,
  kind: "other",
  status: "pending",
  locations: [],
  rawInput: {},
  ...more,
});

const readOnly = ["list_skills", "describe_skill", "read_skill_file", "read_blob", "load_skills_protocol_guide"];

test.each(readOnly)("%s is allowed once, as Claude and as opencode ask for it, in v1 and in v2", (tool) => {
  for (const toolCall of [claude(tool), opencode(tool)]) {
    expect(approve({ toolCall, options }, ours)).toEqual({ tool, optionId: "once" });
    expect(approve({ title: "?", subject: { type: "tool_call", toolCall }, options }, ours)).toEqual({
      tool,
      optionId: "once",
    });
  }
});

test.each(["create_blob", "execute_skill", "run_code", "list_skills_x", "", "constructor"])(
  "%s is not ours to allow",
  (tool) => {
    expect(approve({ toolCall: claude(tool), options }, ours)).toBeUndefined();
    expect(approve({ toolCall: opencode(tool), options }, ours)).toBeUndefined();
  },
);

test.each<[string, object]>([
  [
    "a shell command that is worded like our tool",
    opencode("list_skills", { kind: "execute", rawInput: { command: "skills_list_skills" } }),
  ],
  ["a title alone, of a call whose kind is not told", opencode("list_skills", { kind: undefined })],
  ["a title alone, of a call whose input is not told", opencode("list_skills", { rawInput: undefined })],
  ["input that is not our tool's", opencode("list_skills", { rawInput: { command: "rm" } })],
  ["input that is no object", claude("list_skills", { rawInput: "rm" })],
  ["a title that the tool's own name denies", claude("list_skills", { name: "Bash" })],
  ["a name that another name denies", claude("list_skills", { _meta: { claudeCode: { toolName: "Bash" } } })],
  [
    "the same name on another server",
    claude("list_skills", { _meta: { claudeCode: { mcpServer: { name: "other" } } } }),
  ],
  ["a name that is no text", claude("list_skills", { name: 7 })],
  ["another server's tool", claude("list_skills", { name: "mcp__other__list_skills" })],
  ["the tool's bare name", opencode("list_skills", { title: "list_skills" })],
  ["the name in other letters", claude("list_skills", { name: "mcp__SKILLS__list_skills" })],
])("%s is not allowed", (_what, toolCall) => {
  expect(approve({ toolCall, options }, ours)).toBeUndefined();
});

test("Claude's own word for the server is understood", () => {
  const meta = { claudeCode: { toolName: "mcp__skills__list_skills", mcpServer: { name: "skills", source: "sdk" } } };
  expect(approve({ toolCall: claude("list_skills", { _meta: meta }), options }, ours)?.optionId).toBe("once");
});

test("always is never chosen, nor anything else, when once is not offered", () => {
  const others = options.filter(({ kind }) => kind !== "allow_once");
  expect(approve({ toolCall: claude("list_skills"), options: others }, ours)).toBeUndefined();
  expect(approve({ toolCall: claude("list_skills") }, ours)).toBeUndefined();
  expect(approve({ toolCall: claude("list_skills"), options: [{ kind: "allow_once" }, 7] }, ours)).toBeUndefined();
});

test("the server's own name counts", () => {
  const server = { name: "skills-acp", others: ["skills"] };
  expect(approve({ toolCall: claude("list_skills"), options }, server)).toBeUndefined();
  const toolCall = claude("list_skills", { name: "mcp__skills-acp__list_skills" });
  expect(approve({ toolCall, options }, server)?.optionId).toBe("once");
});

test("a name that another server's tool could have as well is not allowed", () => {
  const server = { name: "skills", others: ["skills_list"] };
  expect(approve({ toolCall: opencode("list_skills"), options }, server)).toBeUndefined();
  expect(approve({ toolCall: claude("list_skills"), options }, server)?.optionId).toBe("once");
  const claudes = { name: "skills", others: ["skills__list"] };
  expect(approve({ toolCall: claude("list_skills"), options }, claudes)).toBeUndefined();
});

test("no other request is ever answered, whatever is in it", () => {
  const names = [...servedTools.keys()].flatMap((tool) => [`mcp__skills__${tool}`, `skills_${tool}`]);
  const name = fc.oneof(
    fc.string(),
    fc.constantFrom(...names).map((text) => `${text} `),
  );
  const toolCall = fc.record({ name, title: name, kind: fc.constantFrom("other", "read"), rawInput: fc.jsonValue() });
  fc.assert(
    fc.property(toolCall, fc.jsonValue(), (call, junk) => {
      expect(approve({ toolCall: call, options }, ours)).toBeUndefined();
      expect(approve({ toolCall: junk, options: junk, subject: junk }, ours)).toBeUndefined();
    }),
  );
});
