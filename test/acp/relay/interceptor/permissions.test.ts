import fc from "fast-check";
import { expect, test } from "vitest";
import { factsOf } from "../../../../src/acp/negotiation/agents.ts";
import { approve } from "../../../../src/acp/relay/interceptor/permissions.ts";
import { servedTools } from "../../../../src/wire/tools.ts";
import type { OwnCall } from "../../../../src/acp/messages/describe-call.ts";

const options = [
  { optionId: "always", kind: "allow_always", name: "Always" },
  { optionId: "once", kind: "allow_once", name: "Once" },
  { optionId: "no", kind: "reject_once", name: "No" },
];
const someone = factsOf("someone");
const known = (server: { name: string; others: readonly string[] }, call?: OwnCall) => ({
  server,
  facts: someone,
  known: call,
});
const ours = known({ name: "skills", others: [] });
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

const readOnly = ["list_skills", "describe_skill", "read_skill_file", "load_skills_protocol_guide"];

test.each(readOnly)("allows %s once for requests of Claude and opencode, in v1 and v2", (tool) => {
  for (const toolCall of [claude(tool), opencode(tool)]) {
    expect(approve({ toolCall, options }, ours)).toEqual({ tool, optionId: "once" });
    expect(approve({ title: "?", subject: { type: "tool_call", toolCall }, options }, ours)).toEqual({
      tool,
      optionId: "once",
    });
  }
});

test.each(["create_blob", "execute_skill", "run_code", "list_skills_x", "", "constructor"])(
  "does not allow %s",
  (tool) => {
    expect(approve({ toolCall: claude(tool), options }, ours)).toBeUndefined();
    expect(approve({ toolCall: opencode(tool), options }, ours)).toBeUndefined();
  },
);

test.each<[string, object]>([
  [
    "a shell command with the text of our tool's name",
    opencode("list_skills", { kind: "execute", rawInput: { command: "skills_list_skills" } }),
  ],
  ["a title alone without a kind", opencode("list_skills", { kind: undefined })],
  ["a title alone without an input", opencode("list_skills", { rawInput: undefined })],
  ["input that does not match the tool's schema", opencode("list_skills", { rawInput: { command: "rm" } })],
  ["input that is not an object", claude("list_skills", { rawInput: "rm" })],
  ["a title that contradicts the tool's name", claude("list_skills", { name: "Bash" })],
  ["a name that contradicts another name", claude("list_skills", { _meta: { claudeCode: { toolName: "Bash" } } })],
  [
    "the same name on another server",
    claude("list_skills", { _meta: { claudeCode: { mcpServer: { name: "other" } } } }),
  ],
  ["a name that is not a string", claude("list_skills", { name: 7 })],
  ["another server's tool", claude("list_skills", { name: "mcp__other__list_skills" })],
  ["the tool's bare name", opencode("list_skills", { title: "list_skills" })],
  ["the name in a different case", claude("list_skills", { name: "mcp__SKILLS__list_skills" })],
])("does not allow %s", (_what, toolCall) => {
  expect(approve({ toolCall, options }, ours)).toBeUndefined();
});

test("accepts the server name in Claude's metadata", () => {
  const meta = { claudeCode: { toolName: "mcp__skills__list_skills", mcpServer: { name: "skills", source: "sdk" } } };
  expect(approve({ toolCall: claude("list_skills", { _meta: meta }), options }, ours)?.optionId).toBe("once");
});

test("allows nothing without an allow_once option", () => {
  const others = options.filter(({ kind }) => kind !== "allow_once");
  expect(approve({ toolCall: claude("list_skills"), options: others }, ours)).toBeUndefined();
  expect(approve({ toolCall: claude("list_skills") }, ours)).toBeUndefined();
  expect(approve({ toolCall: claude("list_skills"), options: [{ kind: "allow_once" }, 7] }, ours)).toBeUndefined();
});

test("uses the name of our server in this session", () => {
  const server = known({ name: "skills-acp", others: ["skills"] });
  expect(approve({ toolCall: claude("list_skills"), options }, server)).toBeUndefined();
  const name = "mcp__skills-acp__list_skills";
  const toolCall = claude("list_skills", { name, title: name });
  expect(approve({ toolCall, options }, server)?.optionId).toBe("once");
});

test("does not allow a name that a tool of another server could have", () => {
  const server = known({ name: "skills", others: ["skills_list"] });
  expect(approve({ toolCall: opencode("list_skills"), options }, server)).toBeUndefined();
  expect(approve({ toolCall: claude("list_skills"), options }, server)?.optionId).toBe("once");
  const claudes = known({ name: "skills", others: ["skills__list"] });
  expect(approve({ toolCall: claude("list_skills"), options }, claudes)).toBeUndefined();
});

test("does not answer any other request", () => {
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

const gemini = {
  server: { name: "skills", others: [] },
  facts: factsOf("gemini-cli"),
  known: undefined,
};
const qwen = { ...gemini, facts: factsOf("qwen-code") };
const copilot = { ...gemini, facts: factsOf("Copilot") };

/** A permission request of Gemini CLI 0.61.0. */
const ofGemini = (tool: string, input: object, more: object = {}): object => ({
  toolCallId: `mcp_skills_${tool}__call_1`,
  status: "pending",
  title: `${tool} (skills MCP Server)`,
  content: [{ type: "content", content: { type: "text", text: JSON.stringify(input) } }],
  locations: [],
  kind: "other",
  ...more,
});

/** A permission request of qwen-code 0.24.4. */
const ofQwen = (tool: string, input: object, more: object = {}): object => ({
  toolCallId: "call_2",
  status: "pending",
  title: JSON.stringify(input),
  content: [],
  locations: [],
  kind: "read",
  rawInput: input,
  _meta: { toolName: `mcp__skills__${tool}` },
  ...more,
});

/** A permission request of Copilot 1.0.102 for a call that it reported before. */
const ofCopilot = (title: string, input: object): object => ({
  toolCallId: "call_3",
  title,
  kind: "other",
  status: "pending",
  rawInput: input,
});

const blob = { content: "kept", kind: "text/plain" };

test("allows list_skills and create_blob for requests of Gemini and qwen", () => {
  expect(approve({ toolCall: ofGemini("list_skills", { detail: "summary" }), options }, gemini)?.tool).toBe(
    "list_skills",
  );
  expect(approve({ toolCall: ofGemini("create_blob", blob), options }, gemini)?.tool).toBe("create_blob");
  expect(approve({ toolCall: ofQwen("list_skills", { detail: "summary" }), options }, qwen)?.tool).toBe("list_skills");
  expect(approve({ toolCall: ofQwen("create_blob", blob, { kind: "other" }), options }, qwen)?.tool).toBe(
    "create_blob",
  );
});

test("uses an earlier report of the call if the request does not identify its tool", () => {
  const call = { tool: "create_blob", input: blob };
  const toolCall = ofCopilot("Create a blob", blob);
  expect(approve({ toolCall, options }, { ...copilot, known: call })?.tool).toBe("create_blob");
  expect(approve({ toolCall, options }, copilot)).toBeUndefined();
  const bare = { toolCallId: "call_3", status: "pending" };
  expect(approve({ toolCall: bare, options }, { ...copilot, known: call })?.tool).toBe("create_blob");
  const named = { ...bare, name: "Bash" };
  expect(approve({ toolCall: named, options }, { ...copilot, known: call })).toBeUndefined();
  expect(approve({ toolCall: bare, options }, { ...copilot, known: { tool: "run_code", input: {} } })).toBeUndefined();
});

test("accepts wrapped arguments", () => {
  const wrapped = claude("create_blob", { rawInput: { mcpInput: blob } });
  expect(approve({ toolCall: wrapped, options }, ours)?.tool).toBe("create_blob");
  const called = claude("list_skills", { rawInput: { server: "skills", tool: "list_skills", arguments: {} } });
  expect(approve({ toolCall: called, options }, ours)?.tool).toBe("list_skills");
  const other = claude("list_skills", { rawInput: { server: "skills", tool: "run_code", arguments: {} } });
  expect(approve({ toolCall: other, options }, ours)).toBeUndefined();
});

test.each<[string, object]>([
  ["a kind that runs", { kind: "execute" }],
  ["a kind that edits", { kind: "edit" }],
  ["a kind that deletes", { kind: "delete" }],
  ["another title", { title: "rm -rf ~" }],
  ["another tool's title", { title: "mcp__skills__run_code" }],
  ["a diff", { content: [{ type: "diff", path: "/etc/passwd", oldText: "", newText: "x" }] }],
  ["a terminal", { content: [{ type: "terminal", terminalId: "1" }] }],
  [
    "text in addition to the input",
    { content: [{ type: "content", content: { type: "text", text: "Delete everything?" } }] },
  ],
  ["a file location", { locations: [{ path: "/etc/passwd" }] }],
])("does not allow a read-only tool together with %s", (_what, more) => {
  for (const toolCall of [
    claude("list_skills", more),
    ofQwen("list_skills", {}, more),
    ofGemini("list_skills", {}, more),
  ])
    for (const context of [ours, qwen, gemini]) expect(approve({ toolCall, options }, context)).toBeUndefined();
});

test.each<[string, object]>([
  ["create_blob", { path: "secrets.txt", kind: "text/plain" }],
  ["create_blob", { ...blob, path: "x" }],
  ["read_blob", { blob_id: "blob:abc", save_as: "Makefile" }],
  ["read_blob", { blob_id: "blob:abc", overwrite: true }],
])("does not allow %s with %j, which accesses the project", (tool, input) => {
  expect(approve({ toolCall: claude(tool, { rawInput: input }), options }, ours)).toBeUndefined();
  expect(approve({ toolCall: ofGemini(tool, input), options }, gemini)).toBeUndefined();
  expect(approve({ toolCall: ofQwen(tool, input), options }, qwen)).toBeUndefined();
});

test.each(["create_blob", "read_blob"])("allows %s only if the input is known", (tool) => {
  const input = tool === "create_blob" ? blob : { blob_id: "blob:abc", mode: "full" };
  expect(approve({ toolCall: claude(tool, { rawInput: input }), options }, ours)?.tool).toBe(tool);
  expect(approve({ toolCall: opencode(tool), options }, ours)).toBeUndefined();
  expect(approve({ toolCall: claude(tool, { rawInput: undefined }), options }, ours)).toBeUndefined();
});

const adding = (text: string): object => ({ content: [{ type: "content", content: { type: "text", text } }] });

/** A permission request of Kimi Code 2.1.0, which has neither a kind nor an input. */
const ofKimi = (tool: string, more: object = {}): object => ({
  toolCallId: "0:call_1",
  title: `mcp__skills__${tool}`,
  ...adding(`Requesting approval to Approve mcp__skills__${tool}`),
  ...more,
});
const kimiKnows = (call: OwnCall | undefined) => ({ ...gemini, facts: factsOf("Kimi Code CLI"), known: call });

test("allows reads and runs with the sentence that Kimi Code adds to each request", () => {
  for (const tool of readOnly)
    expect(approve({ toolCall: ofKimi(tool), options }, kimiKnows({ tool, input: {} }))?.optionId).toBe("once");
  const run = { tool: "execute_skill", input: { name: "deploy" } };
  expect(approve({ toolCall: ofKimi(run.tool), options }, kimiKnows(run), () => true)?.optionId).toBe("once");
});

test.each<[string, object]>([
  ["a sentence about another tool", adding("Requesting approval to Approve mcp__skills__run_code")],
  ["a sentence about another server's tool", adding("Requesting approval to Approve mcp__others__list_skills")],
  ["more text", adding("Requesting approval to Approve mcp__skills__list_skills and rm")],
  ["a diff", { content: [{ type: "diff", path: "/etc/passwd", oldText: "", newText: "x" }] }],
])("does not allow a call of Kimi Code with %s", (_what, more) => {
  const known = { tool: "list_skills", input: {} };
  expect(approve({ toolCall: ofKimi("list_skills", more), options }, kimiKnows(known))).toBeUndefined();
});

test("does not take Kimi Code's sentence from another agent", () => {
  const known = { tool: "list_skills", input: {} };
  expect(approve({ toolCall: ofKimi("list_skills"), options }, { ...gemini, known })).toBeUndefined();
  expect(approve({ toolCall: ofKimi("list_skills"), options }, gemini)).toBeUndefined();
});

/** What Kimi Code 2.1.0 offers. */
const ofKimisOptions = [
  { optionId: "approve_once", name: "Approve once", kind: "allow_once" },
  { optionId: "approve_always", name: "Approve for this session", kind: "allow_always" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
];

test.each(readOnly)("allows %s of a subagent of Kimi Code, whose input nobody knows, once", (tool) => {
  const asked = { toolCall: ofKimi(tool), options: ofKimisOptions };
  for (const call of [undefined, { tool, input: undefined }])
    expect(approve(asked, kimiKnows(call))).toEqual({ tool, optionId: "approve_once" });
  const unsaid = { ...asked, toolCall: ofKimi(tool, { content: [] }) };
  expect(approve(unsaid, kimiKnows(undefined))).toBeUndefined();
});

test.each(["execute_skill", "run_code", "create_blob", "read_blob"])(
  "asks the person about %s of a subagent of Kimi Code, which may do more than read",
  (tool) => {
    const asked = { toolCall: ofKimi(tool), options: ofKimisOptions };
    for (const call of [undefined, { tool, input: undefined }]) expect(approve(asked, kimiKnows(call))).toBeUndefined();
  },
);

/** What qwen-code 0.24.4 offers in its mode "auto" when the model that decides there did not answer. */
const withSwitch = [
  { optionId: "proceed_once_and_switch_to_default", kind: "allow_once", name: "Switch to Default Mode and allow once" },
  { optionId: "proceed_once", kind: "allow_once", name: "Allow" },
  { optionId: "cancel", kind: "reject_once", name: "Reject" },
];
const notClassified = adding(
  "Auto Mode couldn't classify this action (Classifier stage 1 unavailable). Review it manually. Switching to Default Mode is recommended if you want to continue without the classifier.",
);

test("takes the option of qwen that does not change its mode", () => {
  const toolCall = ofQwen("list_skills", {}, notClassified);
  expect(approve({ toolCall, options: withSwitch }, qwen)?.optionId).toBe("proceed_once");
});

test.each<[string, readonly unknown[], object]>([
  ["of several that allow once, none is the plain one", withSwitch.map((one) => ({ ...one, optionId: "x" })), {}],
  ["two have the id of the plain one", [...withSwitch, ...withSwitch], {}],
  ["the model that decides refused the call", withSwitch, adding("Auto mode reached its session denial limit.")],
])("asks the person if %s", (_what, offered, more) => {
  expect(approve({ toolCall: ofQwen("list_skills", {}, more), options: offered }, qwen)).toBeUndefined();
});

test("asks the person if an agent that is not known offers several that allow once", () => {
  expect(approve({ toolCall: claude("list_skills"), options: withSwitch }, ours)).toBeUndefined();
});
