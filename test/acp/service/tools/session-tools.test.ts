import { expect, test } from "vitest";
import { type Conversation, type Message, converse, converseInSession, prompt } from "../../conversation.ts";
import { fakeService } from "../../fake-service.ts";
import { printed } from "../../../printed.ts";
import { fakeTools } from "../../fake-tools.ts";
import { manualClock } from "../../../manual-clock.ts";
import { Interceptor } from "../../../../src/acp/relay/interceptor.ts";
import { readOptions } from "../../../../src/runtime/options.ts";
import { memorySkillset, offer } from "../../memory-skillset.ts";
import { servedTools } from "../../../../src/wire/tools.ts";

const http = { mcpCapabilities: { http: true } };
const embedded = { promptCapabilities: { embeddedContext: true } };

interface Params {
  readonly mcpServers?: readonly Record<string, unknown>[];
  readonly systemPrompt?: { readonly content: readonly { readonly text: string }[] };
  readonly prompt?: readonly Record<string, unknown>[];
}
const lastAtAgent = ({ atAgent }: Conversation): Params => atAgent.at(-1)?.params ?? {};
/** The blocks of the last prompt after the user's text. */
const taughtWith = (conversation: Conversation): unknown => JSON.stringify(lastAtAgent(conversation).prompt?.slice(1));

async function converseV2(session: object, tools = fakeTools()): Promise<Conversation> {
  const conversation = converse({ tools });
  const capabilities = { session };
  await conversation.exchange("initialize", { protocolVersion: 2 }, { protocolVersion: 2, capabilities });
  await conversation.exchange("session/new", { cwd: "/project" }, { sessionId: "s" });
  return conversation;
}

test("appends our server to the editor's for an agent that supports HTTP", async () => {
  const conversation = await converseInSession({}, { tools: fakeTools() }, http);
  const mcpServers = [{ name: "theirs", command: "x", args: [], env: [] }];
  await conversation.exchange("session/new", { cwd: "/project", mcpServers }, { sessionId: "t" });
  expect(lastAtAgent(conversation)).toEqual({
    cwd: "/project",
    mcpServers: [
      mcpServers[0],
      {
        type: "http",
        name: "skills",
        url: "http://127.0.0.1:1/mcp/2",
        headers: [{ name: "Authorization", value: "Bearer secret" }],
      },
    ],
  });
});

const bridge = {
  name: "skills",
  command: process.execPath,
  args: [expect.stringMatching(/cli.main\.js$/), "mcp-bridge", "/private/socket"],
  env: [],
};

test("uses a stdio server for an agent without HTTP, or by option", async () => {
  const without = await converseInSession({}, { tools: fakeTools() });
  expect(lastAtAgent(without).mcpServers).toEqual([bridge]);
  const forced = await converseInSession({}, { tools: fakeTools(), toolForm: "stdio" }, http);
  expect(lastAtAgent(forced).mcpServers).toEqual([bridge]);
});

test("reads session.mcp and adds a type to every entry in v2", async () => {
  const both = await converseV2({ mcp: { http: {}, stdio: {} } });
  expect(lastAtAgent(both).mcpServers).toMatchObject([{ type: "http", name: "skills" }]);
  expect(lastAtAgent(await converseV2({ mcp: { stdio: {} } })).mcpServers).toEqual([{ type: "stdio", ...bridge }]);
  const neither = await converseV2({ mcp: {} });
  expect(lastAtAgent(neither)).toEqual({ cwd: "/project" });
  expect(neither.logged).toEqual([expect.stringContaining("does not support any")]);
  await neither.editor(prompt("hello"));
  // Without our tools, the model is instructed to read the files.
  expect(taughtWith(neither)).toContain("- pdf (/skills/pdf/SKILL.md)");
});

test.each(["session/load", "session/resume"])("opens a server with the session's id for %s", async (method) => {
  const tools = fakeTools();
  const conversation = await converseInSession({}, { tools }, http);
  await conversation.exchange(method, { cwd: "/p", sessionId: "old", mcpServers: [] }, {});
  expect(lastAtAgent(conversation).mcpServers).toHaveLength(1);
  expect(tools.servers).toMatchObject([
    { sessionId: "s", isClosed: false },
    { sessionId: "old", isClosed: false },
  ]);
});

test("shows the output of a call in the editor's tool call until the session is closed", async () => {
  const tools = fakeTools();
  const conversation = await converseInSession({}, { tools }, http);
  conversation.atEditor.splice(0);
  const print = tools.servers[0]?.follow({ toolCallId: "call-1", tool: "run_code", input: {} })?.onEvent;
  print?.(printed("one\n"));
  print?.(printed("two\n"));
  const content = (text: string): unknown => [{ type: "content", content: { type: "text", text } }];
  const update = { sessionUpdate: "tool_call_update", toolCallId: "call-1", status: "in_progress" };
  expect(conversation.atEditor).toEqual(
    ["one\n", "one\ntwo\n"].map((text) => ({
      jsonrpc: "2.0",
      method: "session/update",
      params: { sessionId: "s", update: { ...update, content: content(text) } },
    })),
  );
  print?.(printed("x".repeat(5_000)));
  const last = JSON.stringify(conversation.atEditor.at(-1)).match(/x{9,}/)?.[0];
  expect(last).toHaveLength(4_096);
  conversation.interceptor.close();
  print?.(printed("late\n"));
  expect(conversation.atEditor).toHaveLength(3);
});

test("shows the output of a call that the agent reports after it called our server", async () => {
  const tools = fakeTools();
  const conversation = await converseInSession({}, { tools }, http);
  const input = { name: "rows.clean" };
  const print = tools.servers[0]?.follow({ toolCallId: undefined, tool: "execute_skill", input })?.onEvent;
  print?.(printed("one\n"));
  const update = {
    sessionUpdate: "tool_call",
    toolCallId: "call-1",
    title: "mcp__skills__execute_skill",
    kind: "other",
  };
  conversation.agent({ method: "session/update", params: { sessionId: "s", update: { ...update, rawInput: input } } });
  await new Promise(setImmediate);
  conversation.atEditor.splice(0);
  print?.(printed("two\n"));
  print?.(printed("three\n"));
  const shown = conversation.atEditor.map(({ params }) => (params as { update: object }).update);
  expect(shown).toEqual(
    ["one\ntwo\n", "one\ntwo\nthree\n"].map((text) => ({
      sessionUpdate: "tool_call_update",
      toolCallId: "call-1",
      status: "in_progress",
      content: [{ type: "content", content: { type: "text", text } }],
    })),
  );
});

test("passes the agent's name with calls of the editor and of the model", async () => {
  const tools = fakeTools();
  const conversation = converse({ tools });
  const agentInfo = { name: "an-agent", version: "1" };
  const result = { protocolVersion: 1, agentCapabilities: http, agentInfo };
  await conversation.exchange("initialize", { protocolVersion: 1 }, result);
  await conversation.exchange("session/new", { cwd: "/p", mcpServers: [] }, { sessionId: "s" });
  await conversation.editor({ id: 3, method: "_acp-skills/list_skills", params: { sessionId: "s" } });
  await new Promise(setImmediate);
  expect(tools.servers).toMatchObject([{ sessionId: "s", agent: "an-agent" }]);
  expect(tools.calls).toMatchObject([{ caller: { sessionId: "s", agent: "an-agent" } }]);
});

test("opens a server for session/fork and sets its session from the response", async () => {
  const tools = fakeTools();
  const conversation = await converseInSession({}, { tools }, http);
  await conversation.editor({ id: 50, method: "session/fork", params: { cwd: "/p", sessionId: "s" } });
  expect(tools.servers.at(-1)?.sessionId).toBeUndefined();
  conversation.agent({ id: 50, result: { sessionId: "fork" } });
  expect(tools.servers.at(-1)?.sessionId).toBe("fork");
});

test("closes the server when its session is refused, reopened or closed, or the connection ends", async () => {
  const tools = fakeTools();
  const isClosed = (): boolean[] => tools.servers.map((server) => server.isClosed);
  const conversation = await converseInSession({}, { tools }, http);
  await conversation.editor({ id: 50, method: "session/new", params: { cwd: "/p", mcpServers: [] } });
  conversation.agent({ id: 50, error: { code: -32000, message: "no" } });
  expect(isClosed()).toEqual([false, true]);
  await conversation.exchange("session/load", { cwd: "/p", sessionId: "s", mcpServers: [] }, {});
  expect(isClosed()).toEqual([true, true, false]);
  await conversation.exchange("session/close", { sessionId: "s" }, {});
  expect(isClosed()).toEqual([true, true, true]);
  await conversation.exchange("session/new", { cwd: "/p", mcpServers: [] }, { sessionId: "t" });
  conversation.interceptor.close();
  expect(isClosed()).toEqual([true, true, true, true]);
});

test("continues without a server that cannot be opened and logs it once", async () => {
  const tools = fakeTools(undefined, () => Promise.reject(new Error("no ports left")));
  const conversation = await converseInSession({}, { tools }, http);
  await conversation.exchange("session/new", { cwd: "/p", mcpServers: [] }, { sessionId: "t" });
  expect(lastAtAgent(conversation)).toEqual({ cwd: "/p", mcpServers: [] });
  await conversation.editor(prompt("hello"));
  expect(conversation.atAgent.at(-1)).toEqual(prompt("hello"));
  expect(conversation.logged).toEqual(["warning: The model does not get the skill tools: no ports left"]);
});

/** A `session/new` whose server is opened only by `open`. */
async function openSlowly() {
  let open = (): void => undefined;
  const opening = new Promise<void>((resolve) => {
    open = resolve;
  });
  const tools = fakeTools(undefined, () => opening);
  const conversation = converse({ tools });
  await conversation.exchange("initialize", { protocolVersion: 1 }, { protocolVersion: 1, agentCapabilities: http });
  const sent = conversation.editor({ id: 9, method: "session/new", params: { cwd: "/p", mcpServers: [] } });
  await new Promise(setImmediate);
  return { tools, conversation, sent, open };
}

test("continues without a server that takes too long and closes it later", async () => {
  const { tools, conversation, sent, open } = await openSlowly();
  expect(conversation.atAgent).toHaveLength(1);
  conversation.clock.pass(5_000);
  await sent;
  expect(lastAtAgent(conversation)).toEqual({ cwd: "/p", mcpServers: [] });
  open();
  await new Promise(setImmediate);
  expect(tools.servers).toMatchObject([{ sessionId: undefined, isClosed: true }]);
});

test("closes a server that opens after the connection ended", async () => {
  const { tools, conversation, sent, open } = await openSlowly();
  conversation.interceptor.close();
  open();
  await sent;
  expect(lastAtAgent(conversation)).toEqual({ cwd: "/p", mcpServers: [] });
  expect(tools.servers).toMatchObject([{ isClosed: true }]);
});

test("loads the tools after the agent has answered initialize", async () => {
  const tools = fakeTools();
  const { editor, agent } = converse({ tools });
  await editor({ id: 0, method: "initialize", params: { protocolVersion: 1 } });
  expect(tools.prepared()).toBe(0);
  agent({ id: 0, result: { protocolVersion: 1, agentCapabilities: http } });
  expect(tools.prepared()).toBe(1);
});

test("loads the tools a second after a session got its server, so that its first list comes before", async () => {
  const tools = fakeTools();
  const conversation = converse({ tools });
  await conversation.exchange("initialize", { protocolVersion: 1 }, { protocolVersion: 1, agentCapabilities: http });
  await conversation.exchange("session/new", { cwd: "/p", mcpServers: [] }, { sessionId: "s" });
  const before = tools.prepared();
  conversation.clock.pass(999);
  expect(tools.prepared()).toBe(before);
  conversation.clock.pass(1);
  expect(tools.prepared()).toBe(before + 1);
});

test("delays session/new until the agent has answered initialize", async () => {
  const conversation = converse({ tools: fakeTools() });
  await conversation.editor({ id: 0, method: "initialize", params: { protocolVersion: 1 } });
  const sent = conversation.editor({ id: 1, method: "session/new", params: { cwd: "/p", mcpServers: [] } });
  await new Promise(setImmediate);
  expect(conversation.atAgent).toHaveLength(1);
  conversation.agent({ id: 0, result: { protocolVersion: 1, agentCapabilities: http } });
  await sent;
  expect(lastAtAgent(conversation).mcpServers).toMatchObject([{ type: "http" }]);
});

test.each([
  ["refuses initialize", { id: 0, error: { code: -32603, message: "no" } }],
  [
    "serves skills itself",
    { id: 0, result: { protocolVersion: 1, agentCapabilities: { _meta: { "acp-skills": {} } } } },
  ],
])("forwards session/new unchanged to an agent that %s", async (_what, answer) => {
  const conversation = converse({ tools: fakeTools() });
  await conversation.editor({ id: 0, method: "initialize", params: { protocolVersion: 1 } });
  const sent = conversation.editor({ id: 1, method: "session/new", params: { cwd: "/p", mcpServers: [] } });
  conversation.agent(answer);
  await sent;
  expect(lastAtAgent(conversation)).toEqual({ cwd: "/p", mcpServers: [] });
});

test.each([
  ["supports MCP servers", {}],
  ["supports none", { agentInfo: { name: "pi-acp", version: "0.0.34" } }],
])("forwards session/new despite a service that never answers, to an agent that %s", async (_what, result) => {
  const clock = manualClock();
  const nothing = (): void => undefined;
  const service = fakeService({ equip: () => new Promise(nothing) });
  const interceptor = new Interceptor({ service, settings: readOptions({}, { clock }), send: nothing, reply: nothing });
  await interceptor.fromEditor({ id: 0, method: "initialize", params: { protocolVersion: 1 } });
  await interceptor.fromAgent({ id: 0, result: { protocolVersion: 1, ...result } });
  const verdict = interceptor.fromEditor({ id: 1, method: "session/new", params: { cwd: "/p", mcpServers: [] } });
  await new Promise(setImmediate);
  clock.pass(6_000);
  expect(await verdict).toEqual({ forward: true });
});

test("ignores mcpServers that is not a list and opens no server", async () => {
  const tools = fakeTools();
  const conversation = await converseInSession({}, { tools }, http);
  await conversation.exchange("session/new", { cwd: "/p", mcpServers: "odd" }, { sessionId: "t" });
  expect(lastAtAgent(conversation)).toEqual({ cwd: "/p", mcpServers: "odd" });
  expect(tools.servers).toHaveLength(1);
});

test("lists skills with the first prompt and only changes later", async () => {
  const tools = fakeTools();
  const conversation = await converseInSession({}, { tools }, { ...http, ...embedded });
  tools.servers[0]?.toolsListed();
  await conversation.editor(prompt("hello"));
  const [words, lesson] = lastAtAgent(conversation).prompt ?? [];
  expect(words).toEqual({ type: "text", text: "hello" });
  expect(lesson).toMatchObject({
    type: "text",
    text: expect.stringContaining('- pdf: "What pdf does."\n- csv: "What csv does."') as string,
    annotations: { audience: ["assistant"] },
  });
  await conversation.editor(prompt("go on"));
  expect(conversation.atAgent.at(-1)).toEqual(prompt("go on"));
  conversation.skillset.set([offer("pdf"), offer("zip")]);
  await conversation.editor({ ...prompt("faster"), method: "_session/steering" });
  expect(lastAtAgent(conversation)).toEqual(prompt("faster").params);
  await conversation.editor(prompt("and now"));
  expect(taughtWith(conversation)).toMatch(
    /Added:\\n- zip: \\"What zip does\.\\"\\nRemoved:\\n- csv\\n<\/q7x2m9-acp-skills>"/,
  );
  await conversation.editor(prompt("done"));
  expect(conversation.atAgent.at(-1)).toEqual(prompt("done"));
});

test("lists skill files until the agent asks for the tools, then describes the tools", async () => {
  const tools = fakeTools();
  const conversation = await converseInSession({}, { tools }, http);
  await conversation.editor(prompt("hello"));
  expect(taughtWith(conversation)).toContain("- pdf (/skills/pdf/SKILL.md)");
  expect(taughtWith(conversation)).not.toContain("describe_skill");
  tools.servers[0]?.toolsListed();
  await conversation.editor(prompt("go on"));
  expect(taughtWith(conversation)).toContain("call describe_skill");
});

test("does not repeat a lesson from a loaded session's history and hides it from the editor", async () => {
  const first = await converseInSession({}, { tools: fakeTools() }, http);
  await first.editor(prompt("hello"));
  const [, lesson] = lastAtAgent(first).prompt ?? [];
  const conversation = await converseInSession({}, { tools: fakeTools() }, http);
  const loading = conversation.editor({
    id: 50,
    method: "session/load",
    params: { sessionId: "old", cwd: "/p", mcpServers: [] },
  });
  await loading;
  const before = conversation.atEditor.length;
  const told = (content: unknown): Message => {
    return {
      method: "session/update",
      params: { sessionId: "old", update: { sessionUpdate: "user_message_chunk", content } },
    };
  };
  // What the person sent without words, such as the text beside an image.
  conversation.agent(told({ type: "text", text: "" }));
  conversation.agent(told({ type: "text", text: "hello" }));
  conversation.agent(told(lesson));
  conversation.agent({ id: 50, result: {} });
  expect(conversation.atEditor.slice(before)).toEqual([
    told({ type: "text", text: "" }),
    told({ type: "text", text: "hello" }),
    { id: 50, result: {} },
  ]);
  await conversation.editor({
    ...prompt("go on"),
    params: { ...(prompt("go on").params as object), sessionId: "old" },
  });
  expect(lastAtAgent(conversation).prompt).toEqual([{ type: "text", text: "go on" }]);
});

test("leaves an agent's command unchanged and adds the lesson to the next prompt", async () => {
  const conversation = await converseInSession({}, { tools: fakeTools() }, http);
  await conversation.editor(prompt("/init"));
  expect(conversation.atAgent.at(-1)).toEqual(prompt("/init"));
  await conversation.editor(prompt("hello"));
  expect(taughtWith(conversation)).toContain("- pdf");
});

test("adds the instructions, then the lesson, to a prompt that invokes a skill", async () => {
  const conversation = await converseInSession({}, { tools: fakeTools() }, { ...http, ...embedded });
  await conversation.editor(prompt("/pdf read it"));
  expect(lastAtAgent(conversation).prompt).toMatchObject([
    { type: "text", text: 'Use the skill "pdf": read it\n\n' },
    { type: "resource", resource: { uri: "acp-skills:skill/pdf" } },
    { type: "text", text: expect.stringMatching(/^\n\n<q7x2m9-acp-skills index=/) as string },
  ]);
});

test.each([
  ["without skills", { skillset: memorySkillset() }],
  ["by option", { instructModel: false }],
])("adds no lesson %s", async (_why, options) => {
  const conversation = await converseInSession({}, { tools: fakeTools(), ...options }, http);
  await conversation.editor(prompt("hello"));
  expect(conversation.atAgent.at(-1)).toEqual(prompt("hello"));
  expect(lastAtAgent({ ...conversation, atAgent: conversation.atAgent.slice(0, -1) }).mcpServers).toHaveLength(1);
});

test("delays the first prompt until skills are read", async () => {
  const skillset = memorySkillset([offer("pdf")], { isReady: false });
  const conversation = await converseInSession({}, { tools: fakeTools(), skillset }, http);
  const sent = conversation.editor(prompt("hello"));
  await new Promise(setImmediate);
  expect(lastAtAgent(conversation)).not.toHaveProperty("prompt");
  await skillset.becomeReady();
  await sent;
  expect(taughtWith(conversation)).toContain("- pdf");
});

test("adds skills that are read after the timeout to a later prompt without delay", async () => {
  const skillset = memorySkillset([offer("pdf")], { isReady: false });
  const conversation = await converseInSession({}, { tools: fakeTools(), skillset }, http);
  const sent = conversation.editor(prompt("hello"));
  await new Promise(setImmediate);
  conversation.clock.pass(2_000);
  await sent;
  expect(conversation.atAgent.at(-1)).toEqual(prompt("hello"));
  await conversation.editor(prompt("still there?"));
  expect(conversation.atAgent.at(-1)).toEqual(prompt("still there?"));
  await skillset.becomeReady();
  await conversation.editor(prompt("again"));
  expect(taughtWith(conversation)).toContain("- pdf");
});

test("does not delay a prompt if no lesson is added", async () => {
  const skillset = memorySkillset([offer("pdf")], { isReady: false });
  const conversation = await converseInSession({}, { tools: fakeTools(), skillset, instructModel: false }, http);
  await conversation.editor(prompt("hello"));
  expect(conversation.atAgent.at(-1)).toEqual(prompt("hello"));
});

test("puts the lesson in the system prompt of an agent that supports it, and changes in prompts", async () => {
  const capabilities = { ...http, sessionCapabilities: { systemPrompt: {} } };
  const conversation = await converseInSession({}, { tools: fakeTools() }, capabilities);
  const { systemPrompt } = lastAtAgent(conversation);
  expect(systemPrompt).toMatchObject({ mode: "append", content: [{ type: "text" }] });
  expect(systemPrompt?.content[0]?.text).toContain("- pdf (/skills/pdf/SKILL.md)");
  await conversation.editor(prompt("hello"));
  expect(conversation.atAgent.at(-1)).toEqual(prompt("hello"));
  conversation.skillset.set([offer("pdf")]);
  await conversation.editor(prompt("again"));
  expect(taughtWith(conversation)).toContain("Removed:\\n- csv");
});

test("puts the lesson in the system prompt in v2", async () => {
  const { systemPrompt } = lastAtAgent(await converseV2({ mcp: { http: {} }, systemPrompt: {} }));
  expect(systemPrompt).toMatchObject({ mode: "append" });
});

test("adds the lesson to the first prompt if skills are read too late for the system prompt", async () => {
  const skillset = memorySkillset([offer("pdf")], { isReady: false });
  const conversation = converse({ tools: fakeTools(), skillset });
  const agentCapabilities = { ...http, sessionCapabilities: { systemPrompt: {} } };
  await conversation.exchange("initialize", { protocolVersion: 1 }, { protocolVersion: 1, agentCapabilities });
  const sent = conversation.editor({ id: 9, method: "session/new", params: { cwd: "/p", mcpServers: [] } });
  await new Promise(setImmediate);
  conversation.clock.pass(500);
  await sent;
  expect(lastAtAgent(conversation)).not.toHaveProperty("systemPrompt");
  conversation.agent({ id: 9, result: { sessionId: "s" } });
  await skillset.becomeReady();
  await conversation.editor(prompt("hello"));
  expect(taughtWith(conversation)).toContain("- pdf");
});

const asks = (id: number | string, toolCall: object, sessionId = "s"): Message => ({
  id,
  method: "session/request_permission",
  params: { sessionId, toolCall, options: [{ optionId: "o", kind: "allow_once", name: "Yes" }] },
});
const listing = {
  toolCallId: "1",
  name: "mcp__skills__list_skills",
  title: "List skills",
  kind: "other",
  rawInput: {},
};

test("allows a read-only tool for the user without forwarding the request", async () => {
  const conversation = await converseInSession({}, { tools: fakeTools() }, http);
  const before = conversation.atEditor.length;
  conversation.agent(asks("p1", listing));
  expect(conversation.atEditor).toHaveLength(before);
  expect(conversation.atAgent.at(-1)).toEqual({
    jsonrpc: "2.0",
    id: "p1",
    result: { outcome: { outcome: "selected", optionId: "o" } },
  });
  expect(conversation.logged).toEqual([expect.stringMatching(/^info: .*list_skills/)]);
});

test.each<[string, Parameters<typeof converse>[0], object, string]>([
  ["by option", { answerPermissions: false }, listing, "s"],
  ["of a tool that runs code", {}, { ...listing, name: "mcp__skills__run_code", title: "run" }, "s"],
  ["of a session that is not known", {}, listing, "other"],
])("forwards a permission request to the editor: %s", async (_why, options, toolCall, sessionId) => {
  const conversation = await converseInSession({}, { tools: fakeTools(), ...options }, http);
  const sent = conversation.atAgent.length;
  conversation.agent(asks(7, toolCall, sessionId));
  expect(conversation.atEditor.at(-1)).toMatchObject({ id: 7, method: "session/request_permission" });
  expect(conversation.atAgent).toHaveLength(sent);
});

test("never offers always for our tools, and describes the call, in a request that names a child of a session", async () => {
  const conversation = await converseInSession({}, { tools: fakeTools() }, http);
  const rawInput = { language: "python", code: "print(1)" };
  const toolCall = { ...listing, name: "mcp__skills__run_code", title: "run", rawInput };
  const options = [
    { optionId: "a", kind: "allow_always", name: "Always" },
    { optionId: "o", kind: "allow_once", name: "Yes" },
  ];
  const sent = conversation.atAgent.length;
  for (const sessionId of ["child", undefined]) {
    conversation.agent({ id: 7, method: "session/request_permission", params: { sessionId, toolCall, options } });
    const { params } = conversation.atEditor.at(-1) as { params: { toolCall: { title: string }; options: unknown[] } };
    expect(params.options).toEqual([options[1]]);
    expect(params.toolCall.title).not.toBe("run");
  }
  const other = { ...toolCall, name: "Bash", title: "ls", kind: "execute", rawInput: { command: "ls" } };
  conversation.agent({
    id: 8,
    method: "session/request_permission",
    params: { sessionId: "child", toolCall: other, options },
  });
  expect(conversation.atEditor.at(-1)).toMatchObject({ params: { toolCall: other, options } });
  expect(conversation.atAgent).toHaveLength(sent);
});

test("forwards permission requests unchanged for a session without our server", async () => {
  const conversation = await converseV2({ mcp: {} });
  conversation.agent(asks(7, listing));
  expect(conversation.atEditor.at(-1)).toEqual(asks(7, listing));
  const withoutTools = await converseInSession({}, {}, http);
  withoutTools.agent(asks(7, listing));
  expect(withoutTools.atEditor.at(-1)).toEqual(asks(7, listing));
});

test("includes a text of every permission request and tool name in the interest in the agent", async () => {
  const { interceptor } = await converseInSession({}, { tools: fakeTools() }, http);
  const interest = interceptor.interests.agent;
  expect((interest as string[]).some((piece) => JSON.stringify(asks(1, {})).includes(piece))).toBe(true);
  for (const tool of servedTools.keys())
    expect((interest as string[]).some((piece) => tool.includes(piece))).toBe(true);
});

test("includes a text of every update of a running call in the interest in the agent if only those contain its input", async () => {
  const running = JSON.stringify({ sessionUpdate: "tool_call_update", toolCallId: "1", status: "in_progress" });
  const looks = async (name: string): Promise<boolean> => {
    const conversation = converse({ tools: fakeTools() });
    const result = { protocolVersion: 1, agentCapabilities: http, agentInfo: { name, version: "1" } };
    await conversation.exchange("initialize", { protocolVersion: 1 }, result);
    return (conversation.interceptor.interests.agent as string[]).some((piece) => running.includes(piece));
  };
  expect(await looks("Kimi Code CLI")).toBe(true);
  expect(await looks("OpenCode")).toBe(false);
});

test("advertises and serves tools but sends no skills with announce none", async () => {
  const tools = fakeTools();
  const conversation = await converseInSession({}, { tools, announce: "none" }, http);
  await conversation.settle();
  expect(conversation.atEditor).toHaveLength(2);
  expect(conversation.atEditor[0]?.result).toMatchObject({
    agentCapabilities: {
      _meta: { "acp-skills": { tools: expect.arrayContaining(["read_blob"]) as string[], update: [] } },
    },
  });
  expect(tools.servers).toHaveLength(1);
});

test("does not rewrite a prompt that invokes a skill with announce none", async () => {
  const conversation = await converseInSession(
    {},
    { tools: fakeTools(), announce: "none", instructModel: false },
    http,
  );
  await conversation.editor(prompt("/pdf now"));
  expect(lastAtAgent(conversation).prompt).toEqual([{ type: "text", text: "/pdf now" }]);
});

test("forwards a permission request whose id cannot be serialised exactly", async () => {
  const conversation = await converseInSession({}, { tools: fakeTools() }, http);
  conversation.agent(asks(2 ** 53, listing));
  expect(conversation.atEditor.at(-1)).toMatchObject({ id: 2 ** 53, params: { toolCall: { title: "List skills" } } });
});

test.each<[string, Message]>([
  ["the session's turn is cancelled", { method: "session/cancel", params: { sessionId: "s" } }],
  ["the turn's request is cancelled", { method: "$/cancel_request", params: { requestId: 8 } }],
])("ends running calls when %s, and forwards the cancellation", async (_what, cancellation) => {
  const tools = fakeTools();
  const conversation = await converseInSession({}, { tools }, http);
  await conversation.exchange("session/new", { cwd: "/project" }, { sessionId: "t" });
  await conversation.editor({ id: 7, method: "session/prompt", params: { sessionId: "s", prompt: [] } });
  await conversation.editor({ id: 8, method: "session/prompt", params: { sessionId: "s", prompt: [] } });
  await conversation.editor({ id: 9, method: "session/prompt", params: { sessionId: "t", prompt: [] } });
  await conversation.editor({ method: "$/cancel_request", params: { requestId: 7 } });
  await conversation.editor({ method: "$/cancel_request", params: { requestId: "8" } });
  expect(tools.cancelled).toEqual([]);
  await conversation.editor(cancellation);
  expect(tools.cancelled).toEqual(["s"]);
  expect(conversation.atAgent.at(-1)).toEqual(cancellation);
});

const reported = (toolCallId: string, code: string, more: object = {}): Message => {
  const update = { sessionUpdate: "tool_call", toolCallId, title: "mcp__skills__run_code", kind: "other" };
  return { method: "session/update", params: { sessionId: "s", update: { ...update, rawInput: { code }, ...more } } };
};
const cancelling = (toolCallId: unknown, sessionId = "s"): Message => {
  return { id: 50, method: "tool_call/cancel", params: { sessionId, toolCallId } };
};

test("names what a run has kept as a blob in the titles of later calls", async () => {
  const tools = fakeTools();
  const conversation = await converseInSession({}, { tools }, http);
  const { onEvent } = tools.servers[0]?.follow({ toolCallId: undefined, tool: "run_code", input: {} }) ?? {};
  const kept = { runId: "run_1", type: "blob_kept", kind: "text/csv", sizeBytes: 1_200 } as const;
  onEvent?.({ ...kept, blobId: "blob:1" });
  onEvent?.({ ...kept, blobId: "blob:2", path: "out/rows.csv" });
  const input = { name: "rows.clean", args: { a: "blob:1", b: "blob:2" } };
  const update = { sessionUpdate: "tool_call", toolCallId: "r", title: "mcp__skills__execute_skill", kind: "other" };
  conversation.agent({ method: "session/update", params: { sessionId: "s", update: { ...update, rawInput: input } } });
  expect(conversation.take("tool_call").map(({ title }) => title)).toEqual([
    "Run skill rows.clean on 1.2 kB of text/csv, out/rows.csv",
  ]);
});

test("tool_call/cancel ends exactly that run of ours, whenever it was reported, and is forwarded", async () => {
  const tools = fakeTools();
  const conversation = await converseInSession({}, { tools }, http);
  const { follow } = tools.servers[0] ?? {};
  const run = (code: string, toolCallId?: string) => follow?.({ toolCallId, tool: "run_code", input: { code } });
  conversation.agent(reported("c1", "1"));
  const [first, twin] = [run("1"), run("1")];
  const second = run("2");
  conversation.agent(reported("c2", "2"));
  conversation.agent(reported("c3", "3"));
  // As Claude's requests name their calls.
  const third = run("3", "c3");
  const aborted = (): unknown[] => [first, twin, second, third].map((one) => one?.signal.aborted);
  await conversation.editor(cancelling("c2"));
  expect(aborted()).toEqual([false, false, true, false]);
  await conversation.editor(cancelling("c3"));
  expect(aborted()).toEqual([false, false, true, true]);
  await conversation.editor(cancelling("c1"));
  expect(aborted()).toEqual([true, false, true, true]);
  expect(conversation.atAgent.slice(-3)).toEqual([cancelling("c2"), cancelling("c3"), cancelling("c1")]);
  expect(tools.cancelled).toEqual([]);
});

test("tool_call/cancel of any other call ends nothing, and is forwarded", async () => {
  const tools = fakeTools();
  const conversation = await converseInSession({}, { tools }, http);
  await conversation.exchange("session/new", { cwd: "/project" }, { sessionId: "t" });
  conversation.agent(reported("c1", "1"));
  const shown = tools.servers[0]?.follow({ toolCallId: undefined, tool: "run_code", input: { code: "1" } });
  conversation.agent(reported("bash", "1", { title: "Bash", kind: "execute" }));
  for (const status of ["completed", "failed", "cancelled"]) {
    conversation.agent(reported(status, "1"));
    const ended = { sessionUpdate: "tool_call_update", toolCallId: status, status };
    conversation.agent({ method: "session/update", params: { sessionId: "s", update: ended } });
  }
  const others = ["bash", "c2", "completed", "failed", "cancelled", 1, undefined].map((id) => cancelling(id));
  for (const other of [...others, cancelling("c1", "t"), cancelling("c1", "nowhere")]) {
    await conversation.editor(other);
    expect(conversation.atAgent.at(-1)).toEqual(other);
  }
  expect(shown?.signal.aborted).toBe(false);
  // It has ended at our server, and the agent has not said so yet.
  shown?.ended();
  await conversation.editor(cancelling("c1"));
  expect(shown?.signal.aborted).toBe(false);
});

test("describes and strips each of 1,000 open requests to run code, whatever else is open", async () => {
  const conversation = await converseInSession({}, { tools: fakeTools() }, http);
  const before = conversation.atEditor.length;
  const options = [
    { optionId: "a", kind: "allow_always", name: "Always" },
    { optionId: "o", kind: "allow_once", name: "Yes" },
  ];
  const toolCall = { name: "mcp__skills__run_code", title: "run", kind: "other", rawInput: { code: 1 } };
  for (let id = 0; id < 1_000; id++) {
    const params = { sessionId: "s", toolCall: { ...toolCall, toolCallId: `c${id}` }, options };
    conversation.agent({ id, method: "session/request_permission", params });
  }
  const asked = conversation.atEditor.slice(before) as {
    params: { toolCall: { title: string }; options: unknown[] };
  }[];
  expect(asked).toHaveLength(1_000);
  for (const { params } of asked)
    expect(params).toMatchObject({ toolCall: { title: "Run Python code" }, options: [options[1]] });
});

test("describes and strips the requests of a subagent of Kimi Code, which have no kind and no input", async () => {
  const conversation = converse({ tools: fakeTools() });
  const result = { protocolVersion: 1, agentCapabilities: http, agentInfo: { name: "Kimi Code CLI", version: "2" } };
  await conversation.exchange("initialize", { protocolVersion: 1 }, result);
  await conversation.exchange("session/new", { cwd: "/p", mcpServers: [] }, { sessionId: "s" });
  const options = [
    { optionId: "approve_once", name: "Approve once", kind: "allow_once" },
    { optionId: "approve_always", name: "Approve for this session", kind: "allow_always" },
  ];
  const title = "mcp__skills__execute_skill";
  const asked = (toolCallId: string, text: string): Message => {
    const toolCall = { toolCallId, title, content: [{ type: "content", content: { type: "text", text } }] };
    return { id: 7, method: "session/request_permission", params: { sessionId: "s", toolCall, options } };
  };
  conversation.agent(asked("0:call_8", `Requesting approval to Approve ${title}`));
  expect(conversation.atEditor.at(-1)).toMatchObject({
    params: { toolCall: { title: "Run a skill" }, options: [options[0]] },
  });
  // Of something else that has this title.
  const other = asked("0:call_9", "Requesting approval to run a command");
  conversation.agent(other);
  expect(conversation.atEditor.at(-1)).toEqual(other);
});
