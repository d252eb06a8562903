import { expect, test } from "vitest";
import { SkillsError } from "../../../../src/base/errors.ts";
import type { Problem } from "../../../../src/skills/rules/problem.ts";
import { clients, converse, type Conversation, converseInSession, type Message } from "../../conversation.ts";
import { printed } from "../../../printed.ts";
import { type FakeTools, fakeTools } from "../../fake-tools.ts";

const call = (id: number | string, tool: string, params?: unknown): Message => ({
  id,
  method: `_acp-skills/${tool}`,
  ...(params !== undefined && { params }),
});
/** Waits until all pending work that needs no timer is done. */
const settled = (): Promise<void> => new Promise(setImmediate);

async function inSession(
  tools: FakeTools = fakeTools(),
): Promise<Conversation & { readonly answers: () => Message[] }> {
  const conversation = await converseInSession({}, { tools });
  const { atAgent, atEditor } = conversation;
  atAgent.splice(0);
  atEditor.splice(0);
  return { ...conversation, answers: () => atEditor };
}

test("answers a call without forwarding it and removes sessionId and _meta from the arguments", async () => {
  const tools = fakeTools();
  const { editor, atAgent, answers } = await inSession(tools);
  await editor(call(7, "describe_skill", { name: "pdf", sessionId: "s", _meta: { trace: 1 } }));
  await editor(call("text", "list_skills"));
  await settled();
  expect(atAgent).toEqual([]);
  expect(answers()).toEqual([
    { jsonrpc: "2.0", id: 7, result: { name: "describe_skill", args: { name: "pdf" } } },
    { jsonrpc: "2.0", id: "text", result: { name: "list_skills", args: undefined } },
  ]);
  expect(tools.calls.map(({ caller }) => caller.sessionId)).toEqual(["s", "s"]);
});

test("forwards a request whose id cannot be serialised exactly", async () => {
  const tools = fakeTools();
  const { editor, atAgent, answers } = await inSession(tools);
  await editor(call(2 ** 53, "list_skills"));
  await editor(call(1.5, "list_skills"));
  await settled();
  expect(atAgent).toMatchObject([{ id: 2 ** 53 }]);
  expect(answers()).toMatchObject([{ id: 1.5 }]);
});

test("runs calls concurrently and sends responses in the order of requests", async () => {
  let finish = (): void => undefined;
  const slow = new Promise<string>((resolve) => {
    finish = () => {
      resolve("slow");
    };
  });
  const tools = fakeTools(({ name }) => (name === "list_skills" ? slow : "quick"));
  const { editor, answers } = await inSession(tools);
  await editor(call(1, "list_skills"));
  await editor(call(2, "read_blob"));
  await settled();
  expect(tools.calls).toHaveLength(2);
  expect(answers()).toEqual([]);
  finish();
  await settled();
  expect(answers().map(({ id }) => id)).toEqual([1, 2]);
});

test("converts an error of a tool to a JSON-RPC error with its facts", async () => {
  const facts = { available: ["pdf"], hint: "Use a name exactly as list_skills gives it." };
  const tools = fakeTools(() => {
    throw new SkillsError("SKILL_NOT_FOUND", "There is no skill pfd.", { facts });
  });
  const { editor, answers } = await inSession(tools);
  await editor(call(1, "describe_skill", { name: "pfd" }));
  await settled();
  expect(answers()).toEqual([
    {
      jsonrpc: "2.0",
      id: 1,
      error: {
        code: -32602,
        message: "There is no skill pfd.",
        data: { code: "SKILL_NOT_FOUND", ...facts, retryable: false },
      },
    },
  ]);
});

test("responds to an internal error with an id and logs the details", async () => {
  const tools = fakeTools(() => {
    throw new Error("/secret/path");
  });
  const { editor, answers, logged } = await inSession(tools);
  await editor(call(1, "list_skills"));
  await settled();
  expect(answers()[0]?.error).toMatchObject({ code: -32603, data: { code: "INTERNAL" } });
  expect(JSON.stringify(answers())).not.toContain("/secret");
  expect(logged.join()).toContain("/secret/path");
});

test("suggests similar methods for an unknown _acp-skills method", async () => {
  const { editor, atAgent, answers } = await inSession();
  await editor(call(1, "list_skill"));
  await editor(call(2, "execute_skills"));
  await settled();
  expect(atAgent).toEqual([]);
  expect(answers().map(({ error }) => error)).toMatchObject([
    { code: -32601, data: { code: "METHOD_NOT_FOUND", available: expect.arrayContaining([]) as string[] } },
    { code: -32601 },
  ]);
  const { data } = answers()[0]?.error as { data: { available: string[] } };
  expect(data.available[0]).toBe("_acp-skills/list_skills");
});

test("drops a notification that names a tool", async () => {
  const tools = fakeTools();
  const { editor, atAgent, answers } = await inSession(tools);
  await editor({ method: "_acp-skills/list_skills", params: {} });
  await settled();
  expect([atAgent, answers(), tools.calls]).toEqual([[], [], []]);
});

test.each([[[1, 2]], ["text"], [null]])("passes params of %j to the tool, which validates them", async (params) => {
  const tools = fakeTools();
  const { editor } = await inSession(tools);
  await editor(call(1, "list_skills", params));
  expect(tools.calls[0]?.args).toEqual(params);
});

test("requires the id of an open session if there are several", async () => {
  const tools = fakeTools();
  const conversation = await inSession(tools);
  const { editor, exchange, answers } = conversation;
  await exchange("session/new", { cwd: "/other", mcpServers: [] }, { sessionId: "t" });
  answers().splice(0);
  await editor(call(1, "list_skills"));
  await editor(call(2, "list_skills", { sessionId: "u" }));
  await editor(call(3, "list_skills", { sessionId: 7 }));
  await editor(call(4, "list_skills", { sessionId: "t" }));
  await settled();
  const available = expect.arrayContaining(["s", "t"]) as string[];
  const refused = (actual: unknown): object => ({
    code: -32602,
    data: {
      code: "VALIDATION_ERROR",
      available,
      violations: [{ field: "/sessionId", expected: "the id of an open session", actual }],
    },
  });
  const refusals = answers()
    .slice(0, 3)
    .map(({ error }) => error);
  expect(refusals).toMatchObject([refused(null), refused("u"), refused(7)]);
  expect(answers()[3]).toMatchObject({ id: 4, result: {} });
  expect(tools.calls.map(({ caller }) => caller.sessionId)).toEqual(["t"]);
});

test("serves explicit and home directories before any session is open", async () => {
  const tools = fakeTools();
  const conversation = converse({ tools });
  await conversation.exchange("initialize", { protocolVersion: 1 }, { protocolVersion: 1 });
  await conversation.editor(call(50, "list_skills"));
  await conversation.editor(call(51, "list_skills"));
  await conversation.editor(call(52, "list_skills", { sessionId: "s" }));
  await settled();
  expect(tools.calls.map(({ caller }) => caller.sessionId)).toEqual([undefined, undefined]);
  expect(conversation.skillset.opened).toEqual([{ cwd: undefined, additionalDirectories: [] }]);
  expect(conversation.atEditor.at(-1)?.error).toMatchObject({ data: { code: "VALIDATION_ERROR" } });
  conversation.interceptor.close();
  expect(conversation.skillset.openCount()).toBe(0);
});

test("aborts a cancelled call, responds with an error and does not forward the cancellation", async () => {
  const never = new Promise<never>(() => undefined);
  const tools = fakeTools(() => never);
  const { editor, atAgent, answers } = await inSession(tools);
  await editor(call(1, "list_skills"));
  await editor({ method: "$/cancel_request", params: { requestId: "1" } });
  expect(atAgent.splice(0)).toHaveLength(1);
  await editor({ method: "$/cancel_request", params: { requestId: 1 } });
  await settled();
  expect(tools.calls[0]?.signal.aborted).toBe(true);
  expect(answers()).toEqual([{ jsonrpc: "2.0", id: 1, error: { code: -32800, message: "Request cancelled" } }]);
  expect(atAgent).toEqual([]);
  await editor({ method: "$/cancel_request", params: { requestId: 1 } });
  expect(atAgent).toHaveLength(1);
});

test("aborts calls and sends no responses after close", async () => {
  let finish = (): void => undefined;
  const slow = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const tools = fakeTools(() => slow);
  const { editor, answers, interceptor } = await inSession(tools);
  await editor(call(1, "list_skills"));
  interceptor.close();
  finish();
  await settled();
  expect(tools.calls[0]?.signal.aborted).toBe(true);
  expect(answers()).toEqual([]);
});

test("includes a text of every call and cancellation in the interest in the editor", async () => {
  const { interceptor } = await inSession(fakeTools());
  const isSeen = (message: Message): boolean =>
    (interceptor.interests.editor as string[]).some((piece) => JSON.stringify(message).includes(piece));
  expect(isSeen(call(1, "list_skills"))).toBe(true);
  expect(isSeen({ method: "$/cancel_request", params: { requestId: 1 } })).toBe(true);
});

test("forwards calls if no tools are served", async () => {
  const { editor, atAgent } = await converseInSession(clients.optedIn);
  await editor(call(1, "list_skills"));
  expect(atAgent.at(-1)).toEqual(call(1, "list_skills"));
});

test("lists the served tools in the advertisement", async () => {
  const { atEditor } = await converseInSession({}, { tools: fakeTools() });
  expect(atEditor[0]?.result).toMatchObject({
    agentCapabilities: {
      _meta: {
        "acp-skills": {
          tools: [
            ...["list_skills", "describe_skill", "read_skill_file", "execute_skill", "run_code"],
            ...["create_blob", "read_blob", "load_skills_protocol_guide"],
          ],
        },
      },
    },
  });
});

test("sends output while code runs until the request is cancelled", async () => {
  const tools = fakeTools(() => new Promise(() => undefined));
  const { editor, answers } = await inSession(tools);
  await editor(call(7, "run_code", { language: "python", code: "" }));
  await settled();
  const print = tools.calls[0]?.caller.onEvent;
  print?.(printed("one\n"));
  await editor({ method: "$/cancel_request", params: { requestId: 7 } });
  print?.(printed("two\n"));
  await settled();
  expect(answers()).toMatchObject([
    { method: "_acp-skills/progress", params: { requestId: 7, message: "one\n" } },
    { id: 7, error: { code: -32800 } },
  ]);
});

test("collects output in one message of limited length while the editor does not read", async () => {
  const tools = fakeTools(() => new Promise(() => undefined));
  const { editor, answers, stopReading } = await inSession(tools);
  await editor(call(7, "run_code", { language: "python", code: "" }));
  await settled();
  const print = tools.calls[0]?.caller.onEvent;
  const goOn = stopReading();
  print?.(printed("first"));
  for (let count = 0; count < 1_000; count++) print?.(printed("x".repeat(1_000)));
  print?.(printed("last"));
  expect(answers()).toHaveLength(1);
  goOn();
  const messages = answers().map(({ params }) => (params as { message: string }).message);
  expect(messages).toEqual(["first", expect.stringMatching(/^x{65532}last$/)]);
});

test("refuses more than 128 calls until the editor reads responses", async () => {
  const tools = fakeTools();
  const { editor, answers, stopReading } = await inSession(tools);
  const goOn = stopReading();
  for (let id = 0; id < 130; id++) await editor(call(id, "read_blob"));
  await settled();
  expect(tools.calls).toHaveLength(128);
  expect(answers().at(-1)).toMatchObject({ id: 129, error: { data: { code: "RUNTIME_BUSY", retryable: true } } });
  goOn();
  await editor(call(200, "read_blob"));
  await settled();
  expect(tools.calls).toHaveLength(129);
});

test("of an editor that calls and reads nothing, the next call waits until it reads", async () => {
  const tools = fakeTools();
  const { editor, answers, stopReading } = await inSession(tools);
  const goOn = stopReading();
  let taken = 0;
  const sending = (async () => {
    for (let id = 0; id < 1_000; id++) {
      await editor(call(id, "read_blob"));
      taken += 1;
    }
  })();
  await settled();
  await settled();
  expect([taken, answers().length]).toEqual([256, 256]);
  goOn();
  await sending;
  await settled();
  expect(answers()).toHaveLength(1_000);
});

test("of an editor that reads nothing and leaves, no call waits", async () => {
  const { editor, interceptor, stopReading } = await inSession();
  stopReading();
  const sending = (async () => {
    for (let id = 0; id < 300; id++) await editor(call(id, "read_blob"));
  })();
  await settled();
  interceptor.editorLeft();
  await sending;
});

test("paginates the problems of a session's skills", async () => {
  const { editor, answers, skillset } = await inSession();
  const problem = (line: number): Problem => ({
    ...{ code: "name-missing", severity: "warning", file: "/a", line, column: 1, message: "m", fix: "f" },
  });
  skillset.set([], [problem(1), problem(2), problem(3)]);
  answers().splice(0);
  await editor(call(1, "list_problems", { sessionId: "s", limit: 2 }));
  await editor(call(2, "list_problems", { offset: 2 }));
  await editor(call(3, "list_problems", { limit: 0 }));
  await settled();
  expect(answers()).toMatchObject([
    { id: 1, result: { problems: [{ line: 1 }, { line: 2 }], total: 3, next_offset: 2 } },
    { id: 2, result: { problems: [{ line: 3 }], total: 3, next_offset: null } },
    { id: 3, error: { code: -32602, data: { violations: [{ field: "/limit" }] } } },
  ]);
});
