import type * as v2 from "@agentclientprotocol/sdk/experimental/v2/unstable";
import { expect, test } from "vitest";
import { createTextFinder } from "../../../src/acp/relay/interest.ts";
import { type Conversation, converseInSession, type Message } from "../conversation.ts";
import { fakeTools } from "../fake-tools.ts";

/** Messages that are newer than the wrapper's first versions, as the SDK's types of ACP v2 say. */
const sessionId = "s";
const toolCallId = "call_1";

const requests: readonly (readonly [method: string, params: object, result: object])[] = [
  [
    "session/set_title",
    { sessionId, title: "Mine" } satisfies v2.SetSessionTitleRequest,
    { title: "Mine" } satisfies v2.SetSessionTitleResponse,
  ],
  [
    "session/status",
    { sessionId } satisfies v2.SessionStatusRequest,
    {
      status: "open",
      state: { state: "idle", background: [{ type: "tool_call", toolCallId }] },
    } satisfies v2.SessionStatusResponse,
  ],
  ["session/archive", { sessionId } satisfies v2.ArchiveSessionRequest, {} satisfies v2.ArchiveSessionResponse],
  ["session/unarchive", { sessionId } satisfies v2.UnarchiveSessionRequest, {} satisfies v2.UnarchiveSessionResponse],
  [
    "tool_call/cancel",
    { sessionId, toolCallId } satisfies v2.CancelToolCallRequest,
    {} satisfies v2.CancelToolCallResponse,
  ],
  [
    "terminal/cancel",
    { sessionId, terminalId: "t" } satisfies v2.CancelTerminalRequest,
    {} satisfies v2.CancelTerminalResponse,
  ],
];

test.each(requests)("%s, its response and its error pass unchanged", async (method, params, result) => {
  const { editor, agent, atAgent, atEditor } = await inSession();
  const error = { code: -32002, message: "No such session.", data: { sessionId } };
  await editor({ id: 7, method, params });
  agent({ id: 7, error });
  await editor({ id: 8, method, params });
  agent({ id: 8, result });
  expect(atAgent).toEqual([
    { id: 7, method, params },
    { id: 8, method, params },
  ]);
  expect(atEditor.filter(({ id }) => id !== undefined)).toEqual([
    { id: 7, error },
    { id: 8, result },
  ]);
});

const background = [
  { type: "terminal", terminalId: "t" },
  { type: "tool_call", toolCallId },
  { type: "subagent", sessionId: "child" },
  { type: "_vendor", more: 1 },
] satisfies v2.BackgroundWork[];

const updates: readonly (readonly [name: string, update: object])[] = [
  ["notice", { sessionUpdate: "notice", severity: "warning", title: "Full disk" } satisfies v2.SessionUpdate],
  [
    "compaction_update",
    { sessionUpdate: "compaction_update", compactionId: "c", status: "in_progress" } satisfies v2.SessionUpdate,
  ],
  [
    "compaction_summary_chunk",
    {
      sessionUpdate: "compaction_summary_chunk",
      compactionId: "c",
      content: { type: "text", text: "All that was said." },
    } satisfies v2.SessionUpdate,
  ],
  ["BackgroundWork", { sessionUpdate: "state_update", state: "idle", background } satisfies v2.SessionUpdate],
  ["terminal_update", { sessionUpdate: "terminal_update", terminalId: "t" } satisfies v2.SessionUpdate],
];

test.each(updates)("%s passes unchanged, and is not even parsed", async (_name, update) => {
  const { agent, atEditor, interceptor } = await inSession();
  const message = { jsonrpc: "2.0", method: "session/update", params: { sessionId, update } };
  agent(message);
  expect(atEditor).toEqual([message]);
  const interest = interceptor.interests.agent as readonly string[];
  expect(createTextFinder(interest)(Buffer.from(JSON.stringify(message)), 0)).toBe(-1);
});

test("session/archive releases the session, which the agent has closed then; session/unarchive opens none", async () => {
  const { editor, agent, exchange, skillset } = await inSession();
  await editor({ id: 7, method: "session/archive", params: { sessionId } });
  agent({ id: 7, error: { code: -32603, message: "no" } });
  expect(skillset.openCount()).toBe(1);
  await exchange("session/archive", { sessionId }, {});
  expect(skillset.openCount()).toBe(0);
  await exchange("session/unarchive", { sessionId }, {});
  expect(skillset.openCount()).toBe(0);
});

const typed = 'Use the skill "pdf": sort the invoices';
const ofPrompt = "/pdf sort the invoices";
const retitled = (title: string, session = sessionId): Message => ({
  method: "session/update",
  params: { sessionId: session, update: { sessionUpdate: "session_info_update", title } },
});

test.each([
  ["as it was typed", typed, typed],
  ["trimmed", `  ${typed} `, typed],
  ["truncated", typed, `${typed.slice(0, 30)}…`],
])("a title that the user sets is not touched, %s, in updates and lists", async (_how, title, stored) => {
  const { editor, agent, exchange, take, atEditor } = await inSession();
  await editor({ id: 7, method: "session/set_title", params: { sessionId, title } });
  // Before the response, too.
  agent(retitled(stored));
  agent({ id: 7, result: { title: stored } });
  agent(retitled(stored));
  expect(take().map((update) => update["title"])).toEqual([stored, stored]);
  const sessions = [
    { sessionId, cwd: "/project", title: stored },
    { sessionId: "fork", cwd: "/project", title: stored },
    { sessionId: "other", cwd: "/project", title: 'Use the skill "csv": sort' },
  ];
  await exchange("session/list", { archived: "include" }, { sessions });
  expect(atEditor.at(-1)?.result).toEqual({
    sessions: [...sessions.slice(0, 2), { ...sessions[2], title: "/csv sort" }],
  });
});

test("a title that the agent normalised as it liked is the user's, too", async () => {
  const { exchange, agent, take } = await inSession();
  await exchange("session/set_title", { sessionId, title: typed.toUpperCase() }, { title: typed });
  agent(retitled(typed));
  expect(take()).toEqual([{ sessionUpdate: "session_info_update", title: typed }]);
});

test("what we inserted is taken out of titles that nobody set", async () => {
  const { exchange, agent, take } = await inSession();
  await exchange("session/set_title", { sessionId, title: "Invoices" }, { title: "Invoices" });
  agent(retitled(typed));
  expect(take()).toEqual([{ sessionUpdate: "session_info_update", title: ofPrompt }]);
});

test.each(['"method":"tool_call/cancel"', '"method":"tool_call\\/cancel"'])(
  "%s is found among unparsed lines",
  async (text) => {
    const { interceptor } = await inSession();
    const find = createTextFinder(interceptor.interests.editor as readonly string[]);
    expect(find(Buffer.from(`{"id":1,${text},"params":{}}`), 0)).not.toBe(-1);
    expect(find(Buffer.from('{"id":1,"method":"terminal/cancel","params":{"terminalId":"tool_call"}}'), 0)).toBe(-1);
  },
);

/** Session `s` of an agent that has our tools; nothing has been said yet. */
async function inSession(): Promise<Conversation> {
  const conversation = await converseInSession({}, { tools: fakeTools() });
  await conversation.settle();
  conversation.atAgent.splice(0);
  conversation.atEditor.splice(0);
  return conversation;
}
