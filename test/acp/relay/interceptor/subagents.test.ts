import fc from "fast-check";
import { expect, test } from "vitest";
import { RelayedSession } from "../../../../src/acp/relay/interceptor/relayed-session.ts";
import { Subagents, maxSubagents } from "../../../../src/acp/relay/interceptor/subagents.ts";
import { printed } from "../../../printed.ts";
import { type Conversation, converse, converseInSession } from "../../conversation.ts";
import { type FakeTools, fakeTools } from "../../fake-tools.ts";

const agentCapabilities = { mcpCapabilities: { http: true } };
const shows = { subagents: {} };

const update = (sessionId: string, fields: object) => ({
  method: "session/update",
  params: { sessionId, update: fields },
});
const announce = (parent: string, child: string, more: object = {}) =>
  update(parent, { sessionUpdate: "subagent_update", sessionId: child, ...more });

const options = [
  { optionId: "always", kind: "allow_always", name: "Always" },
  { optionId: "once", kind: "allow_once", name: "Once" },
];
const reading = { toolCallId: "read", name: "mcp__skills__list_skills", kind: "other", rawInput: {} };
const code = { language: "python", code: "print(1)" };
const running = { toolCallId: "run", name: "mcp__skills__run_code", title: "x", kind: "other", rawInput: code };
const asks = (sessionId: unknown, toolCall: object, id = 7) => ({
  id,
  method: "session/request_permission",
  params: { sessionId, toolCall, options },
});
const calls = (sessionId: string, more: object = {}) =>
  update(sessionId, { sessionUpdate: "tool_call", ...running, ...more });

/** A conversation in session `s`, whose agent has announced the subagent `child`. */
async function converseWithChild(tools: FakeTools = fakeTools(), more: Parameters<typeof converse>[0] = {}) {
  const conversation = await converseInSession(shows, { tools, ...more }, agentCapabilities);
  conversation.agent(announce("s", "child"));
  return conversation;
}

/** Whether a permission request to read skills is answered without the editor. */
function isAnswered({ agent, atAgent }: Conversation, sessionId: unknown): boolean {
  const before = atAgent.length;
  agent(asks(sessionId, reading));
  return atAgent.length > before;
}

/** A running request to our server; what it prints, and whether it was cancelled, can be seen. */
function call(tools: FakeTools, input: unknown, toolCallId?: string) {
  const following = tools.servers[0]?.follow({ toolCallId, tool: "run_code", input });
  if (following === undefined) throw new Error("There is no server.");
  return following;
}

test.each([
  ["as the parent's are", announce("s", "child")],
  ["named as in the first draft", update("s", { sessionUpdate: "subagent_update", subagentSessionId: "child" })],
])("answers requests of an announced subagent, %s", async (_how, announcement) => {
  const conversation = await converseInSession(shows, { tools: fakeTools() }, agentCapabilities);
  expect(isAnswered(conversation, "child")).toBe(false);
  conversation.agent(announcement);
  expect(conversation.atEditor.at(-1)).toEqual(announcement);
  expect(isAnswered(conversation, "child")).toBe(true);
  expect(conversation.atAgent.at(-1)).toMatchObject({ id: 7, result: { outcome: { optionId: "once" } } });
});

test("follows subagents only of an editor of ACP v1 that declares them, and always in v2", async () => {
  const undeclared = await converseInSession({}, { tools: fakeTools() }, agentCapabilities);
  undeclared.agent(announce("s", "child"));
  expect(isAnswered(undeclared, "child")).toBe(false);
  const v2 = converse({ tools: fakeTools() });
  const capabilities = { session: { mcp: { http: {} } } };
  await v2.exchange("initialize", { protocolVersion: 2 }, { protocolVersion: 2, capabilities });
  await v2.exchange("session/new", { cwd: "/project" }, { sessionId: "s" });
  v2.agent(announce("s", "child"));
  expect(isAnswered(v2, "child")).toBe(true);
});

test("answers requests of a subagent of a subagent, and none once one above it has ended", async () => {
  const conversation = await converseWithChild();
  conversation.agent(announce("child", "grandchild"));
  expect(isAnswered(conversation, "grandchild")).toBe(true);
  conversation.agent(announce("s", "child", { state: "completed" }));
  expect(["child", "grandchild"].map((id) => isAnswered(conversation, id))).toEqual([false, false]);
  expect(isAnswered(conversation, "s")).toBe(true);
});

test.each(["completed", "failed", "cancelled", "disconnected"])("forgets a subagent that is %s", async (state) => {
  for (const given of [state, { state }]) {
    const conversation = await converseWithChild();
    conversation.agent(announce("s", "child", { state: given }));
    expect(isAnswered(conversation, "child")).toBe(false);
    conversation.agent(announce("s", "other", { state: given }));
    expect(isAnswered(conversation, "other")).toBe(false);
  }
});

test("keeps a subagent that is idle, which may be used again", async () => {
  const conversation = await converseWithChild();
  conversation.agent(announce("s", "child", { state: { state: "idle", stopReason: "end_turn" } }));
  conversation.agent(announce("s", "child", { state: { state: "running" } }));
  expect(isAnswered(conversation, "child")).toBe(true);
});

test("forgets the subagents of a session that is closed, and keeps those of one that is opened again", async () => {
  const conversation = await converseWithChild();
  await conversation.exchange("session/load", { sessionId: "s", cwd: "/project", mcpServers: [] }, {});
  expect(isAnswered(conversation, "child")).toBe(true);
  await conversation.exchange("session/close", { sessionId: "s" }, {});
  expect(isAnswered(conversation, "child")).toBe(false);
});

test("follows the subagents in the history of a session that is being loaded", async () => {
  const conversation = await converseInSession(shows, { tools: fakeTools() }, agentCapabilities);
  await conversation.editor({
    id: 50,
    method: "session/load",
    params: { sessionId: "old", cwd: "/p", mcpServers: [] },
  });
  conversation.agent(announce("old", "child"));
  conversation.agent({ id: 50, result: {} });
  expect(isAnswered(conversation, "child")).toBe(true);
});

test("describes the calls and requests of a subagent, and offers no always", async () => {
  const conversation = await converseWithChild(fakeTools(), { answerPermissions: false });
  conversation.agent(calls("child", { status: "pending" }));
  expect(conversation.atEditor.at(-1)).toMatchObject({
    params: { sessionId: "child", update: { title: "Run Python code", kind: "execute" } },
  });
  conversation.agent(asks("child", { toolCallId: "run" }));
  expect(conversation.atEditor.at(-1)).toMatchObject({
    params: { sessionId: "child", toolCall: { title: "Run Python code" }, options: [options[1]] },
  });
  const sent = conversation.atEditor.length;
  const ended = { sessionUpdate: "tool_call_update", toolCallId: "run", status: "failed" };
  expect((conversation.interceptor.interests.agent as string[]).includes('"run"')).toBe(true);
  conversation.agent(update("child", ended));
  expect(conversation.atEditor).toHaveLength(sent + 1);
  expect((conversation.interceptor.interests.agent as string[]).includes('"run"')).toBe(false);
});

test("takes what we inserted out of what a subagent was told", async () => {
  const conversation = await converseWithChild();
  await conversation.settle();
  await conversation.editor({
    id: 60,
    method: "session/prompt",
    params: { sessionId: "s", prompt: [{ type: "text", text: "/pdf all of it" }] },
  });
  const { prompt } = conversation.atAgent.at(-1)?.params as { prompt: { text: string }[] };
  const text = prompt.map((block) => block.text).join("");
  expect(text).toContain("Do it well.");
  const before = conversation.atEditor.length;
  conversation.agent(update("child", { sessionUpdate: "user_message_chunk", content: { type: "text", text } }));
  conversation.agent(announce("s", "child", { state: "completed" }));
  await Promise.resolve();
  expect(JSON.stringify(conversation.atEditor.slice(before))).not.toContain("Do it well.");
});

test("leaves the list of commands of a subagent as it is, which nobody can use", async () => {
  const conversation = await converseWithChild();
  await conversation.settle();
  const listed = { sessionUpdate: "available_commands_update", availableCommands: [{ name: "a", description: "A." }] };
  conversation.agent(update("child", listed));
  expect(conversation.atEditor.at(-1)).toEqual(update("child", listed));
});

test("gives an editor that calls a tool in a subagent what its session has", async () => {
  const tools = fakeTools();
  const conversation = await converseWithChild(tools);
  conversation.agent(announce("child", "grandchild"));
  await conversation.editor({ id: 9, method: "_acp-skills/list_skills", params: { sessionId: "grandchild" } });
  expect(tools.calls.at(-1)?.caller.sessionId).toBe("s");
});

test("knows which subagent makes a call, and shows its output there", async () => {
  const tools = fakeTools();
  const conversation = await converseWithChild(tools);
  conversation.agent(calls("child"));
  const following = call(tools, code);
  expect(following.subagent()).toBe("child");
  conversation.atEditor.splice(0);
  following.onEvent(printed("one\n"));
  expect(conversation.atEditor).toMatchObject([{ params: { sessionId: "child", update: { toolCallId: "run" } } }]);
});

test("knows it where the agent reports the call after it has called our server, and where it sends the call's id", async () => {
  const tools = fakeTools();
  const conversation = await converseWithChild(tools);
  const [late, named] = [call(tools, code), call(tools, { code: "2" }, "named")];
  expect([late.subagent(), named.subagent()]).toEqual([undefined, undefined]);
  conversation.agent(calls("child"));
  conversation.agent(calls("child", { toolCallId: "named", rawInput: { code: "2" } }));
  expect([late.subagent(), named.subagent()]).toEqual(["child", "child"]);
});

test("takes a call for the parent's where a subagent makes the same one", async () => {
  const tools = fakeTools();
  const conversation = await converseWithChild(tools);
  conversation.agent(calls("child"));
  conversation.agent(calls("s", { toolCallId: "parent's" }));
  conversation.agent(calls("child", { status: "in_progress" }));
  expect([call(tools, code).subagent(), call(tools, code).subagent()]).toEqual([undefined, undefined]);
});

test("knows which subagent reads, too", async () => {
  const tools = fakeTools();
  const conversation = await converseWithChild(tools);
  conversation.agent(update("child", { sessionUpdate: "tool_call", ...reading }));
  expect(tools.servers[0]?.follow({ toolCallId: undefined, tool: "list_skills", input: {} })?.subagent()).toBe("child");
  expect(tools.servers[0]?.subagents?.areKnown).toBe(true);
});

test.each([
  ["whose calls it reports in the subagent", "child", "s"],
  ["whose calls it reports in the session", "s", "child"],
])("answers and attributes requests of an agent %s, though not the requests", async (_how, reportedIn, askedIn) => {
  const tools = fakeTools();
  const conversation = await converseWithChild(tools);
  conversation.agent(calls(reportedIn));
  conversation.agent(update(reportedIn, { sessionUpdate: "tool_call", ...reading }));
  const before = conversation.atAgent.length;
  conversation.agent(asks(askedIn, { toolCallId: "read", title: "list_skills", rawInput: {} }));
  expect(conversation.atAgent).toHaveLength(before + 1);
  await conversation.interceptor.fromAgent(asks(askedIn, { toolCallId: "run" }));
  expect(call(tools, code).subagent()).toBe("child");
});

test("ends the calls of a cancelled subagent and of those below it, and no others", async () => {
  const tools = fakeTools();
  const conversation = await converseWithChild(tools);
  conversation.agent(announce("child", "grandchild"));
  conversation.agent(announce("s", "sibling"));
  const aborted = ["s", "child", "grandchild", "sibling"].map((sessionId) => {
    conversation.agent(calls(sessionId, { toolCallId: `of ${sessionId}`, rawInput: { code: sessionId } }));
    return call(tools, { code: sessionId }).signal;
  });
  await conversation.editor({ method: "session/cancel", params: { sessionId: "child" } });
  expect(conversation.atAgent.at(-1)).toEqual({ method: "session/cancel", params: { sessionId: "child" } });
  expect(aborted.map((signal) => signal.aborted)).toEqual([false, true, true, false]);
  expect(tools.cancelled).toEqual([]);
  await conversation.editor({ method: "session/cancel", params: { sessionId: "s" } });
  expect(tools.cancelled).toEqual(["s"]);
});

test("ends nothing for a subagent that has ended, or that nobody announced", async () => {
  const tools = fakeTools();
  const conversation = await converseWithChild(tools);
  conversation.agent(calls("child"));
  const { signal, subagent } = call(tools, code);
  expect(subagent()).toBe("child");
  conversation.agent(announce("s", "child", { state: "completed" }));
  for (const sessionId of ["child", "nobody"])
    await conversation.editor({ method: "session/cancel", params: { sessionId } });
  expect([signal.aborted, tools.cancelled]).toEqual([false, []]);
});

test("logs one line about a subagent that nobody announced", async () => {
  const conversation = await converseWithChild();
  conversation.logged.splice(0);
  for (let times = 0; times < 3; times++) {
    conversation.agent(asks("nobody", running));
    conversation.agent(calls("nobody"));
  }
  expect(conversation.atEditor.at(-1)).toEqual(calls("nobody"));
  expect(conversation.logged).toEqual([
    expect.stringMatching(/^warning: The session nobody .* neither opened nor announced/),
  ]);
});

test.each<[string, ReturnType<typeof update>]>([
  ["it has no id", update("s", { sessionUpdate: "subagent_update", state: "running" })],
  ["it has no id", update("s", { sessionUpdate: "subagent_update", sessionId: 5 })],
  ["more than 1024 characters", announce("s", "x".repeat(1_025))],
  ["its own parent", announce("s", "s")],
  ["its own parent", announce("child", "child")],
  ["opened by the editor", announce("s", "other")],
  ["opened by the editor", announce("child", "s")],
  ["is unknown", announce("nobody", "new")],
  ["another parent", announce("other", "child")],
  ["another parent", announce("s", "grandchild", { title: "Mine" })],
  ["another parent", announce("s", "grandchild", { state: "completed" })],
  ["below the subagent", announce("grandchild", "child")],
])("forwards a subagent_update that is wrong, logs one line (%s) and goes on", async (why, wrong) => {
  const conversation = await converseWithChild();
  await conversation.exchange("session/new", { cwd: "/other", mcpServers: [] }, { sessionId: "other" });
  conversation.agent(announce("child", "grandchild"));
  conversation.logged.splice(0);
  for (let times = 0; times < 2; times++) {
    conversation.agent(wrong);
    expect(conversation.atEditor.at(-1)).toEqual(wrong);
  }
  expect(conversation.logged).toEqual([expect.stringContaining(why)]);
  expect(conversation.logged[0]?.length).toBeLessThan(300);
  for (const id of ["s", "child", "grandchild", "other"]) expect(isAnswered(conversation, id)).toBe(true);
  await conversation.editor({ method: "session/cancel", params: { sessionId: "child" } });
});

test("takes a session that the editor opens for no subagent any longer", async () => {
  const conversation = await converseWithChild();
  conversation.agent(announce("child", "grandchild"));
  await conversation.exchange("session/load", { sessionId: "child", cwd: "/project", mcpServers: [] }, {});
  expect(isAnswered(conversation, "grandchild")).toBe(false);
  conversation.agent(announce("s", "child"));
  expect(conversation.logged.join()).toContain("was opened by the editor");
});

test("looks at announcements if the editor is shown subagents, and at no more of the steady traffic", async () => {
  const interestOf = async (capabilities: object): Promise<readonly string[]> => {
    const { interceptor } = await converseInSession(capabilities, { tools: fakeTools() }, agentCapabilities);
    return interceptor.interests.agent as readonly string[];
  };
  const [shown, others] = [await interestOf(shows), await interestOf({})];
  const looksAt = (interest: readonly string[], message: object): boolean =>
    interest.some((text) => JSON.stringify(message).includes(text));
  expect([looksAt(shown, announce("s", "child")), looksAt(others, announce("s", "child"))]).toEqual([true, false]);
  for (const steady of [
    update("child", { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "words" } }),
    update("child", { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "words" } }),
    update("child", { sessionUpdate: "tool_call_update", toolCallId: "theirs", status: "completed" }),
    update("child", { sessionUpdate: "plan", entries: [] }),
  ])
    expect(looksAt(shown, steady)).toBe(false);
});

/** The subagents of one session `s`. */
function openSubagents() {
  const session = Object.create(RelayedSession.prototype) as RelayedSession;
  const forgotten: string[] = [];
  const logged: string[] = [];
  const subagents = new Subagents({
    find: (id) => (id === "s" ? session : undefined),
    forgotten: (id) => void forgotten.push(id),
    logOnce: (_level, message) => void logged.push(message),
  });
  subagents.areShown = true;
  return { subagents, session, forgotten, logged };
}

test("forgets the oldest idle subagent first where there are many, and never the parent of the next", () => {
  const { subagents, forgotten, logged } = openSubagents();
  for (let number = 0; number < maxSubagents; number++) subagents.updated("s", { sessionId: `a${number}` });
  subagents.updated("s", { sessionId: "a7", state: { state: "idle" } });
  subagents.updated("a5", { sessionId: "a5", state: "idle" });
  expect(logged.splice(0)).toHaveLength(1);
  subagents.updated("s", { sessionId: "b0" });
  subagents.updated("a0", { sessionId: "b1" });
  subagents.updated("s", { sessionId: "b2" });
  expect(forgotten).toEqual(["a7", "a1", "a2"]);
  expect(subagents.byId.size).toBe(maxSubagents);
  expect(new Set(logged).size).toBe(1);
});

test("refuses another level below a chain of as many as are remembered", () => {
  const { subagents, forgotten, logged } = openSubagents();
  for (let number = 0; number <= maxSubagents; number++)
    subagents.updated(number === 0 ? "s" : `a${number - 1}`, { sessionId: `a${number}` });
  expect([subagents.byId.size, forgotten, logged.length]).toEqual([maxSubagents, [], 1]);
});

const id = fc.constantFrom("s", "a", "b", "c", "d", "unknown", "", undefined, 7);
const state = fc.constantFrom(
  undefined,
  null,
  "running",
  "completed",
  "failed",
  { state: "idle" },
  { state: "running" },
  3,
);
const step = fc.record({ parent: fc.constantFrom("s", "a", "b", "c", "d", "unknown"), child: id, state });

test("has a tree below the session after any sequence of updates, and forgets each once", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { subagents, session, forgotten } = openSubagents();
      const parents = new Map<string, string>();
      for (const { parent, child, state: given } of steps) {
        const before = new Set(subagents.byId.keys());
        forgotten.splice(0);
        subagents.updated(parent, { subagentSessionId: child, state: given });
        const now = new Set(subagents.byId.keys());
        expect([...before].filter((one) => !now.has(one)).sort()).toEqual([...forgotten].sort());
        for (const one of forgotten) parents.delete(one);
        for (const one of now) if (!before.has(one)) parents.set(one, parent);
        // Each is the session's, below its first parent, and reached from there without a circle.
        expect([...parents.keys()].sort()).toEqual([...now].sort());
        for (const one of now) {
          expect(subagents.byId.get(one)).toMatchObject({ root: "s", subagent: one });
          let [above, steps] = [parents.get(one), 0];
          for (; above !== undefined && above !== "s"; above = parents.get(above)) expect(++steps).toBeLessThan(5);
          expect(above).toBe("s");
        }
        // Only what was said of a subagent in its parent's session, or of one above it, ends it.
        if (forgotten.length > 0) expect(forgotten).toContain(child);
      }
      subagents.released(session);
      expect(subagents.byId.size).toBe(0);
    }),
  );
});
