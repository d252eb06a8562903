import { expect, test } from "vitest";
import type { Message } from "../../conversation.ts";
import { changedQuestion, question, settled, askingConversation } from "./questions.ts";

test("asks the editor in the session, options in order and everything essential in the title", async () => {
  const { call, asked, reply, selects, atAgent, atEditor } = await askingConversation();
  atEditor.splice(0);
  atAgent.splice(0);
  await call(1);
  const [request] = asked();
  expect(request?.id).toMatch(/^acp-skills:[0-9a-f-]{36}$/);
  expect(request?.params.sessionId).toBe("s");
  expect(request?.params.toolCall).toMatchObject({
    toolCallId: expect.stringMatching(/^acp-skills:question-[0-9a-f-]{36}$/) as string,
    title: "Secret API_KEY, host api.example.com: run web.fetch 1.0.0 (aaaaaaaaaaaa)",
    kind: "execute",
    status: "pending",
    content: [{ type: "content" }],
    rawInput: question.skill,
  });
  expect(request?.params.options.map(({ name, kind }) => [name, kind])).toEqual([
    ["Run once", "allow_once"],
    ["Trust this exact version", "allow_always"],
    ["Not now", "reject_once"],
    ["Block this skill", "reject_always"],
  ]);
  await selects(request!.id, request!.params.options[1]?.optionId);
  expect(await reply(1)).toEqual({ answer: "trust" });
  expect(atAgent).toEqual([]);
});

test("reports the question as a tool call before the request, and its end after the answer", async () => {
  const { call, asked, selects, take } = await askingConversation();
  take();
  await call(1);
  const { id, params } = asked()[0]!;
  await selects(id, params.options[2]?.optionId, 0);
  await settled();
  const { toolCallId, title } = params.toolCall!;
  expect(take()).toMatchObject([
    { sessionUpdate: "tool_call", toolCallId, title, status: "pending" },
    { sessionUpdate: "tool_call_update", toolCallId, title: `Not now: ${String(title)}`, status: "failed" },
  ]);
});

test.each([
  ["once", "allow_once", "completed", "Allowed once"],
  ["trust", "allow", "completed", "Trusted"],
  ["not-now", "reject_once", "failed", "Not now"],
  ["block", "reject_always", "failed", "Blocked"],
])(
  "passes on the answer %s of the option %s and shows the call as %s, titled %s",
  async (answer, option, status, said) => {
    const { call, asked, reply, selects, take } = await askingConversation();
    await call(1);
    const { id, params } = asked()[0]!;
    expect(params.options.map(({ optionId }) => optionId)).toContain(option);
    await selects(id, option);
    expect(await reply(1)).toEqual({ answer });
    expect(take("tool_call_update")).toMatchObject([{ status, title: `${said}: ${String(params.toolCall!.title)}` }]);
  },
);

test.each([
  ["allow", "once", "Allowed once"],
  ["reject_always", "not-now", "Not now"],
  ["allow_once", "once", "Allowed once"],
])("takes %s, sent before anybody can have read the question, for %s", async (option, answer, said) => {
  const { call, asked, reply, selects, take } = await askingConversation();
  for (let count = 1; count <= 100; count += 1) {
    await call(count);
    await selects(asked().at(-1)!.id, option, count === 1 ? 399 : 1);
    expect(await reply(count)).toEqual({ answer, byItself: true });
  }
  expect(take("tool_call_update").at(-1)).toMatchObject({ title: expect.stringMatching(`^${said}: `) as string });
});

const outcome = (given: unknown): Pick<Message, "result"> => ({ result: { outcome: given } });
const unclear = "the editor's response has no valid outcome";

test.each<[string, Pick<Message, "result" | "error">, object]>([
  ["cancelled", outcome({ outcome: "cancelled" }), { missing: "cancelled" }],
  [
    "an option that was not offered",
    outcome({ outcome: "selected", optionId: "allow_always" }),
    { missing: "failed", detail: "the editor selected an option that it was not offered" },
  ],
  [
    "no option",
    outcome({ outcome: "selected" }),
    { missing: "failed", detail: "the editor selected an option without saying which" },
  ],
  [
    "a number as an option",
    outcome({ outcome: "selected", optionId: 0 }),
    { missing: "failed", detail: "the editor selected an option without saying which" },
  ],
  [
    "an option id of 1 MB",
    outcome({ outcome: "selected", optionId: "x".repeat(1_000_000) }),
    { missing: "failed", detail: "the editor selected an option without saying which" },
  ],
  ["an unknown outcome", outcome({ outcome: "_maybe" }), { missing: "failed", detail: unclear }],
  ["a text as outcome", outcome("selected"), { missing: "failed", detail: unclear }],
  ["a list", { result: [] }, { missing: "failed", detail: unclear }],
  ["null", { result: null }, { missing: "failed", detail: unclear }],
  ["neither result nor error", {}, { missing: "failed", detail: unclear }],
  [
    "an error",
    { error: { code: -32601, message: "Method not found:\u001b[31m\nrequest_permission" } },
    { missing: "failed", detail: "the editor answered with error -32601: Method not found: [31m request_permission" },
  ],
  ["a text as error", { error: "no" }, { missing: "failed", detail: "the editor answered with error" }],
  ["the error for cancelled requests", { error: { code: -32800, message: "x" } }, { missing: "cancelled" }],
])("grants nothing to an editor that answers with %s", async (_, response, expected) => {
  const { call, asked, reply, editor, atAgent } = await askingConversation();
  atAgent.splice(0);
  await call(1);
  await editor({ id: asked()[0]!.id, ...response });
  expect(await reply(1)).toEqual(expected);
  expect(atAgent).toEqual([]);
});

test("counts the first of two answers, and keeps the second from the agent", async () => {
  const { call, asked, reply, selects, atAgent } = await askingConversation();
  atAgent.splice(0);
  await call(1);
  const { id, params } = asked()[0]!;
  await selects(id, params.options[3]?.optionId);
  await selects(id, params.options[0]?.optionId);
  expect(await reply(1)).toEqual({ answer: "block" });
  expect(atAgent).toEqual([]);
});

test("takes an answer for the question whose request it answers, and for no other", async () => {
  const { call, asked, reply, selects } = await askingConversation();
  await call(1);
  await call(2);
  const [first, second] = asked();
  await selects("acp-skills:guessed", "allow");
  await selects(second!.id, "reject_once");
  expect(await reply(2)).toEqual({ answer: "not-now" });
  await selects(second!.id, "allow");
  await selects(first!.id, "allow_once");
  expect(await reply(1)).toEqual({ answer: "once" });
});

test("gives up after five minutes, notifies the editor, and ignores an answer after that", async () => {
  const { call, asked, reply, selects, clock, atEditor, atAgent, take } = await askingConversation();
  atAgent.splice(0);
  await call(1);
  const { id, params } = asked()[0]!;
  clock.pass(5 * 60_000 - 1);
  await settled();
  expect(await reply(1)).toBeUndefined();
  clock.pass(1);
  expect(await reply(1)).toEqual({ missing: "timeout" });
  expect(atEditor).toContainEqual({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: id } });
  expect(take("tool_call_update")).toMatchObject([{ status: "failed" }]);
  await selects(id, params.options[0]?.optionId);
  await settled();
  expect([atEditor, atAgent]).toEqual([[], []]);
});

test("withdraws the question when its call is cancelled, and ignores an answer after that", async () => {
  const { call, asked, editor, selects, atEditor, atAgent } = await askingConversation();
  atAgent.splice(0);
  await call(1);
  const { id, params } = asked()[0]!;
  await editor({ method: "$/cancel_request", params: { requestId: "call-1" } });
  await settled();
  expect(atEditor).toContainEqual({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: id } });
  expect(atEditor.find((message) => message.id === "call-1")?.error).toMatchObject({ code: -32800 });
  await selects(id, params.options[0]?.optionId);
  expect(atAgent).toEqual([]);
});

test("withdraws the questions of a session that ends", async () => {
  const { call, asked, reply, exchange, atEditor } = await askingConversation();
  await call(1);
  const { id } = asked()[0]!;
  await exchange("session/close", { sessionId: "s" }, {});
  expect(await reply(1)).toEqual({ missing: "cancelled" });
  expect(atEditor).toContainEqual({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: id } });
});

test("settles every question when the editor leaves, and asks nothing afterwards", async () => {
  const { call, reply, asked, interceptor } = await askingConversation();
  await call(1);
  interceptor.editorLeft();
  expect(await reply(1)).toEqual({ missing: "failed", detail: "the editor has left" });
  await call(2);
  expect(await reply(2)).toEqual({ missing: "failed", detail: "the editor has left" });
  expect(asked()).toHaveLength(1);
});

test("asks at most 32 questions at a time", async () => {
  const { call, reply, asked, selects } = await askingConversation();
  for (let id = 1; id <= 32; id++) await call(id + 1_000);
  expect(asked()).toHaveLength(32);
  await call(2_000);
  expect(await reply(2_000)).toEqual({ missing: "failed", detail: "32 other questions are open in this editor" });
  const [first] = asked();
  await selects(first!.id, first!.params.options[0]?.optionId);
  await call(2_001);
  expect(asked()).toHaveLength(33);
});

test("cannot ask outside of a session", async () => {
  const conversation = await askingConversation();
  await conversation.exchange("session/close", { sessionId: "s" }, {});
  await conversation.call(1);
  expect(await conversation.reply(1)).toBe("cannot ask");
});

test("gives the agent's requests their own answers, whatever their ids look like", async () => {
  const { call, asked, agent, editor, selects, reply, atAgent, atEditor } = await askingConversation();
  await call(1);
  const [own] = asked();
  atAgent.splice(0);
  const guessed = "acp-skills:00000000-0000-4000-8000-000000000000";
  agent({ id: guessed, method: "session/request_permission", params: { sessionId: "s", toolCall: {}, options: [] } });
  expect(atEditor.at(-1)?.id).toBe(guessed);
  const answer = {
    id: guessed,
    result: { outcome: { outcome: "selected", optionId: own!.params.options[0]?.optionId } },
  };
  await editor(answer);
  expect(atAgent).toEqual([answer]);
  expect(await reply(1)).toBeUndefined();
  await selects(own!.id, own!.params.options[0]?.optionId);
  expect(await reply(1)).toEqual({ answer: "once" });
  expect(atAgent).toHaveLength(1);
});

test("forwards a request of the editor that has the id of one of ours", async () => {
  const { call, asked, editor, atAgent } = await askingConversation();
  await call(1);
  const { id } = asked()[0]!;
  const request = { id, method: "_vendor/anything", params: {} };
  await editor(request);
  expect(atAgent.at(-1)).toEqual(request);
});

test("looks at the editor's responses only once something was asked", async () => {
  const { call, asked, selects, interceptor } = await askingConversation();
  const isSeen = (message: object): boolean =>
    (interceptor.interests.editor as string[]).some((text) => JSON.stringify(message).includes(text));
  const response = { jsonrpc: "2.0", id: 7, result: { content: "a file" } };
  expect(isSeen({ jsonrpc: "2.0", id: "acp-skills:1", result: {} })).toBe(false);
  await call(1);
  const { id, params } = asked()[0]!;
  expect([isSeen(response), isSeen({ jsonrpc: "2.0", id, result: {} })]).toEqual([false, true]);
  await selects(id, params.options[0]?.optionId);
  // A second answer must not reach the agent.
  expect(isSeen({ jsonrpc: "2.0", id, result: {} })).toBe(true);
});

test("delays no other message while a question is open", async () => {
  const { call, editor, agent, atAgent, atEditor } = await askingConversation(changedQuestion);
  await call(1);
  await editor({ id: 5, method: "session/set_mode", params: { sessionId: "s", modeId: "x" } });
  agent({ id: 5, result: {} });
  expect(atAgent.at(-1)?.id).toBe(5);
  expect(atEditor.at(-1)?.id).toBe(5);
});
