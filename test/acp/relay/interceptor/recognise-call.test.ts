import { expect, test } from "vitest";
import { factsOf } from "../../../../src/acp/negotiation/agents.ts";
import { describeForUser, withoutAlways } from "../../../../src/acp/messages/describe-call.ts";
import { ClaimedCalls } from "../../../../src/acp/service/tools/session-tools.ts";
import { KnownCalls } from "../../../../src/acp/relay/interceptor/recognise-call.ts";

const server = { name: "skills", others: [] };
const open = (name: string) => new KnownCalls(server, factsOf(name));

const opencodeCall = {
  toolCallId: "call_4",
  title: "skills_execute_skill",
  kind: "other",
  status: "pending",
  locations: [],
  rawInput: {},
};

/** Recorded messages of each agent to its editor about one call of execute_skill, in order. */
const recorded: readonly [string, readonly object[]][] = [
  [
    "@agentclientprotocol/claude-agent-acp",
    [
      {
        _meta: { claudeCode: { toolName: "mcp__skills__execute_skill" } },
        toolCallId: "call_3",
        sessionUpdate: "tool_call",
        name: "mcp__skills__execute_skill",
        rawInput: {},
        status: "pending",
        title: "mcp__skills__execute_skill",
        kind: "other",
        content: [],
      },
      {
        _meta: { claudeCode: { toolName: "mcp__skills__execute_skill" } },
        toolCallId: "call_3",
        sessionUpdate: "tool_call_update",
        rawInput: { name: "rows.clean" },
      },
    ],
  ],
  [
    "OpenCode",
    [
      { sessionUpdate: "tool_call", ...opencodeCall },
      opencodeCall,
      {
        sessionUpdate: "tool_call_update",
        toolCallId: "call_4",
        status: "in_progress",
        kind: "other",
        title: "skills_execute_skill",
        locations: [],
        rawInput: { name: "rows.clean" },
      },
    ],
  ],
  [
    "@agentclientprotocol/codex-acp",
    [
      {
        sessionUpdate: "tool_call",
        toolCallId: "call_6",
        kind: "execute",
        title: "mcp.skills.execute_skill",
        status: "in_progress",
        rawInput: { server: "skills", tool: "execute_skill", arguments: { name: "rows.clean" } },
        _meta: { is_mcp_tool_call: true },
      },
      { toolCallId: "call_6", kind: "execute", status: "pending" },
    ],
  ],
  [
    "gemini-cli",
    [
      {
        toolCallId: "mcp_skills_execute_skill__call_4",
        status: "pending",
        title: "execute_skill (skills MCP Server)",
        content: [{ type: "content", content: { type: "text", text: '{"name":"rows.clean"}' } }],
        locations: [],
        kind: "other",
      },
    ],
  ],
  [
    "qwen-code",
    [
      {
        sessionUpdate: "tool_call",
        toolCallId: "call_4",
        status: "pending",
        title: "ToolCall",
        content: [],
        locations: [],
        kind: "other",
        rawInput: {},
        _meta: { toolName: "tool_call", provenance: "builtin", phase: "preparing" },
      },
      {
        toolCallId: "call_4",
        status: "pending",
        title: '{"name":"rows.clean"}',
        content: [],
        locations: [],
        kind: "other",
        rawInput: { name: "rows.clean" },
        _meta: { toolName: "mcp__skills__execute_skill" },
      },
    ],
  ],
  [
    "Copilot",
    [
      {
        sessionUpdate: "tool_call",
        toolCallId: "call_4",
        title: "skills-execute_skill",
        kind: "execute",
        status: "pending",
        rawInput: { name: "rows.clean" },
      },
      {
        toolCallId: "call_4",
        title: "Execute a skill",
        kind: "other",
        status: "pending",
        rawInput: { name: "rows.clean" },
      },
    ],
  ],
  [
    "Kimi Code CLI",
    [
      {
        sessionUpdate: "tool_call",
        toolCallId: "0:call_4",
        title: "mcp__skills__execute_skill",
        kind: "other",
        status: "pending",
        content: [{ type: "content", content: { type: "text", text: "" } }],
      },
      ...['{"name":"rows', '{"name":"rows.clean"}'].map((text) => ({
        sessionUpdate: "tool_call_update",
        toolCallId: "0:call_4",
        status: "in_progress",
        content: [{ type: "content", content: { type: "text", text } }],
      })),
      {
        toolCallId: "0:call_4",
        title: "mcp__skills__execute_skill",
        content: [
          {
            type: "content",
            content: { type: "text", text: "Requesting approval to Approve mcp__skills__execute_skill" },
          },
        ],
      },
    ],
  ],
];

test.each(recorded)(
  "recognises a call that %s reports and matches it with the request to our server",
  (agent, messages) => {
    const claims = new ClaimedCalls();
    const calls = open(agent);
    const { toolCallId } = messages[0] as { toolCallId: string };
    const learnt = messages.map((message) => calls.record(message as Record<string, unknown>));
    for (const call of learnt) if (call !== undefined) claims.reported({ ...call, toolCallId, isOver: false });
    expect(learnt.at(-1)).toEqual({ tool: "execute_skill", input: { name: "rows.clean" } });
    expect(claims.claim("execute_skill", { name: "other" })).toBeUndefined();
    expect(claims.claim("run_code", { name: "rows.clean" })).toBeUndefined();
    expect(claims.claim("execute_skill", { name: "rows.clean" })).toBe(toolCallId);
    expect(claims.claim("execute_skill", { name: "rows.clean" })).toBeUndefined();
  },
);

test.each(recorded)("shows a title that describes the call of %s before it runs", (agent, messages) => {
  const calls = open(agent);
  const shown: Record<string, unknown> = {};
  for (const message of messages as readonly Record<string, unknown>[]) {
    Object.assign(shown, message);
    const call = calls.record(message);
    for (const amendment of call === undefined ? [] : describeForUser(message, [], call))
      Object.assign(shown, { [String(amendment.path.at(-1))]: "value" in amendment ? amendment.value : undefined });
  }
  expect(shown).toMatchObject({ title: "Run skill rows.clean", kind: "execute" });
});

test("forgets a call that ended or whose id another call reuses", () => {
  const calls = open("OpenCode");
  const ours = { sessionUpdate: "tool_call", toolCallId: "1", title: "skills_run_code", kind: "other", rawInput: {} };
  calls.record(ours);
  expect(calls.find("1")?.tool).toBe("run_code");
  calls.record({ sessionUpdate: "tool_call", toolCallId: "1", title: "rm -rf ~", kind: "execute" });
  expect(calls.find("1")).toBeUndefined();
  calls.record(ours);
  calls.record({ sessionUpdate: "tool_call_update", toolCallId: "1", status: "completed" });
  expect(calls.find("1")).toBeUndefined();
});

test("ignores a shell command with the text of our tool's name", () => {
  const calls = open("OpenCode");
  const shell = { sessionUpdate: "tool_call", toolCallId: "1", title: "skills_list_skills", kind: "execute" };
  expect(calls.record(shell)).toBeUndefined();
  expect(calls.record({ ...shell, rawInput: { command: "skills_list_skills" } })).toBeUndefined();
});

test("does not take the output of a call for its input", () => {
  const calls = open("gemini-cli");
  const [, [asked]] = recorded[3] as [string, [Record<string, unknown>]];
  calls.record(asked);
  const text = JSON.stringify({ status: "completed", output: 7 });
  const ended = { ...asked, status: "completed", content: [{ type: "content", content: { type: "text", text } }] };
  expect(calls.record(ended)?.input).toEqual({ name: "rows.clean" });
});

test("claims only running calls, the oldest with the same input first", () => {
  const claims = new ClaimedCalls();
  const call = { tool: "run_code", input: { code: "1" } };
  claims.reported({ ...call, toolCallId: "1", isOver: false });
  claims.reported({ ...call, toolCallId: "1", isOver: true });
  expect(claims.claim("run_code", call.input)).toBeUndefined();
  claims.reported({ ...call, toolCallId: "2", isOver: false });
  claims.reported({ ...call, toolCallId: "3", isOver: false });
  expect([claims.claim("run_code", call.input), claims.claim("run_code", call.input)]).toEqual(["2", "3"]);
});

test("remembers a limited number of calls", () => {
  const calls = open("OpenCode");
  for (let id = 0; id < 1_000; id++)
    calls.record({ sessionUpdate: "tool_call", toolCallId: String(id), title: "skills_run_code", kind: "other" });
  expect(calls.find("0")).toBeUndefined();
  expect(calls.find("999")).toBeDefined();
});

test("removes allow_always only for tools that run code", () => {
  const options = [
    { optionId: "a", kind: "allow_once" },
    { optionId: "b", kind: "allow_always" },
    { optionId: "c", kind: "reject_always" },
  ];
  for (const tool of ["execute_skill", "run_code"])
    expect(withoutAlways({ options }, { tool, input: undefined })).toEqual([
      { path: ["params", "options"], value: [options[0], options[2]] },
    ]);
  expect(withoutAlways({ options }, { tool: "create_blob", input: undefined })).toEqual([]);
  expect(withoutAlways({ options: "x" }, { tool: "run_code", input: undefined })).toEqual([]);
});

test.each<[object, object, string]>([
  [
    { content: "a;b", kind: "text/csv" },
    { blob_id: "blob:1", size_bytes: 58 },
    "Run skill rows on 58 bytes of text/csv",
  ],
  [
    { content: "", kind: "text/csv;base64" },
    { blob_id: "blob:1", size_bytes: 0 },
    "Run skill rows on 0 bytes of text/csv",
  ],
  [{ path: "data/x.csv", kind: "text/csv" }, { blob_id: "blob:1", size_bytes: 58 }, "Run skill rows on data/x.csv"],
  [{ content: "a", kind: "text/csv" }, { blob_id: "blob:2", size_bytes: 1 }, "Run skill rows on a blob"],
])("names a blob in titles by what it was made from: %j", (rawInput, rawOutput, title) => {
  const calls = open("");
  const created = {
    sessionUpdate: "tool_call",
    toolCallId: "b",
    title: "mcp__skills__create_blob",
    kind: "other",
    rawInput,
  };
  calls.record(created);
  calls.record({ sessionUpdate: "tool_call_update", toolCallId: "b", status: "completed", rawOutput });
  const input = { name: "rows", args: { file: "blob:1" } };
  const update = {
    sessionUpdate: "tool_call",
    toolCallId: "r",
    title: "mcp__skills__execute_skill",
    kind: "other",
    rawInput: input,
  };
  const call = calls.record(update);
  const amendments = call === undefined ? [] : describeForUser(update, ["params", "update"], call);
  expect(amendments).toContainEqual({ path: ["params", "update", "title"], value: title });
});

test("knows calls that name the tool first, unless another server's tool could have that name", () => {
  const call = { sessionUpdate: "tool_call", toolCallId: "a", title: "execute_skill_skills", kind: "other" };
  const named = (others: readonly string[]) => new KnownCalls({ name: "skills", others }, factsOf("auggie"));
  expect(named(["files"]).record(call)?.tool).toBe("execute_skill");
  expect(named(["skill_skills"]).record(call)).toBeUndefined();
});

test("lists the calls that have not ended, the same list until one begins or ends", () => {
  const calls = open("OpenCode");
  expect(calls.open).toEqual([]);
  calls.record({ sessionUpdate: "tool_call", toolCallId: "a", title: "skills_run_code", kind: "other" });
  const before = calls.open;
  expect(before).toEqual(["a"]);
  calls.record({ sessionUpdate: "tool_call_update", toolCallId: "a", status: "in_progress" });
  expect(calls.open).toBe(before);
  calls.record({ sessionUpdate: "tool_call_update", toolCallId: "a", status: "failed" });
  expect(calls.open).toEqual([]);
});

test("knows the calls that qwen-code replays as those of its tool for deferred ones", () => {
  const replayed = {
    sessionUpdate: "tool_call",
    toolCallId: "call_6",
    status: "in_progress",
    title: "ToolCall: mcp__skills__execute_skill",
    kind: "other",
    rawInput: { name: "mcp__skills__execute_skill", arguments: { name: "status.fetch" } },
    _meta: { toolName: "tool_call", provenance: "builtin" },
  };
  const call = open("qwen-code").record(replayed);
  expect(call).toEqual({ tool: "execute_skill", input: { name: "status.fetch" } });
  expect(call && describeForUser(replayed, ["u"], call)).toContainEqual({
    path: ["u", "title"],
    value: "Run skill status.fetch",
  });
  const other = { ...replayed, rawInput: { name: "mcp__other__execute_skill", arguments: {} } };
  expect(open("qwen-code").record(other)).toBeUndefined();
  expect(open("someone").record(replayed)).toBeUndefined();
});

test("what an agent says about any tool does not confirm a title that a model chose", () => {
  const text = factsOf("qwen-code").adds[0] ?? "";
  const content = [{ type: "content", content: { type: "text", text } }];
  const call = { toolCallId: "t", title: "mcp__skills__list_skills", kind: "execute", content };
  expect(text).toContain("Auto Mode");
  expect(open("qwen-code").record(call)).toBeUndefined();
});
