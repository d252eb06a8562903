import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { limitQuestions, toForm, fromElicitResult } from "../../src/mcp/questions.ts";
import type { McpApp } from "../../src/mcp/mcp-caller.ts";
import { serveMcp } from "../../src/mcp/serve-mcp.ts";
import type { Ask, Question } from "../../src/runtime/question.ts";
import { manualClock } from "../manual-clock.ts";
import { openMcpApp } from "./open-mcp-app.ts";
import { legacyCall } from "./raw-request.ts";
import { type StdioMessage, initialize, openStdioClient } from "./stdio-client.ts";

const question: Question = {
  about: "run",
  title: "NEW: secret KEY; as before: host api.example.com: run deploy 1.0.0 (0123456789ab)",
  options: [
    { answer: "once", label: "Run once", kind: "allow_once" },
    { answer: "trust", label: "Trust this exact version", kind: "allow_always" },
    { answer: "not-now", label: "Not now", kind: "reject_once" },
    { answer: "block", label: "Block this skill", kind: "reject_always" },
  ],
  wants: ["may connect to api.example.com", "can read the value of KEY"],
  widened: ["can read the value of KEY"],
  changed: [{ path: "main.py", before: "a", after: "b" }],
};

/** A client of one revision, and a tool that asks the person and returns the reply. */
async function open(revision: string, capabilities: object, { ask }: { readonly ask?: Ask } = {}) {
  const clock = manualClock();
  const { app, caller, logged } = await openMcpApp();
  const toolbox: McpApp["toolbox"] = {
    ...app.toolbox,
    async call(_name, _args, context, signal) {
      const reply = await context.ask?.(question, signal ?? new AbortController().signal);
      return { reply: reply ?? "nobody" };
    },
  };
  const [input, output] = [new PassThrough(), new PassThrough()];
  const asked = { ...caller, ...(ask ? { ask } : { asksClient: true }) };
  const ended = serveMcp({ ...app, toolbox, clock }, asked, { input, output });
  const client = openStdioClient(input, output);
  await client.ask(initialize(revision, capabilities));
  client.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  const call = async () => (await client.ask(legacyCall("list_skills", {}) as { id: number })).result;
  const isQuestion = ({ method }: StdioMessage): boolean => method === "elicitation/create";
  const wait = async () => (await client.wait(isQuestion)) as StdioMessage & { readonly params: object };
  return { clock, client, call, wait, input, ended, logged };
}

const replied = (reply: unknown) => ({ structuredContent: { reply } });
const forms = { elicitation: {} };

test.each(["2025-06-18", "2025-11-25"])(
  "a client of %s that shows forms is asked, and its answer counts",
  async (revision) => {
    const { client, call, wait, input, ended, clock } = await open(revision, forms);
    const called = call();
    const { id, params } = await wait();
    clock.pass(400);
    expect(params).toMatchObject({
      message: [
        question.title,
        "New: can read the value of KEY",
        "It may connect to api.example.com",
        "Changed: main.py",
      ].join("\n"),
      requestedSchema: {
        properties: { answer: { enum: ["Run once", "Trust this exact version", "Not now", "Block this skill"] } },
        required: ["answer"],
      },
    });
    const accepted = { action: "accept", content: { answer: "Trust this exact version" } };
    client.send({ jsonrpc: "2.0", id, result: accepted });
    expect(await called).toMatchObject(replied({ answer: "trust" }));
    // A second answer to the same question changes nothing.
    client.send({ jsonrpc: "2.0", id, result: accepted });
    input.end();
    await ended;
  },
);

test.each([
  ["nothing", {}],
  ["URLs only", { elicitation: { url: {} } }],
  ["something odd", { elicitation: true }],
])("a client that declares %s is not asked", async (_what, capabilities) => {
  const { call, input, ended, client } = await open("2025-11-25", capabilities);
  const result = await call();
  if (result !== undefined) expect(result).toMatchObject(replied("nobody"));
  expect(client.received.map(({ method }) => method)).not.toContain("elicitation/create");
  input.end();
  await ended;
});

test("where an editor is asked, the client is not", async () => {
  const ask: Ask = () => Promise.resolve({ answer: "once" });
  const { call, input, ended, client } = await open("2025-11-25", forms, { ask });
  expect(await call()).toMatchObject(replied({ answer: "once" }));
  expect(client.received.map(({ method }) => method)).not.toContain("elicitation/create");
  input.end();
  await ended;
});

test.each<[string, object, unknown]>([
  ["declined", { result: { action: "decline" } }, { answer: "not-now" }],
  ["cancelled", { result: { action: "cancel" } }, { missing: "cancelled" }],
  ["unknown", { result: { action: "accept", content: { answer: "Yes" } } }, { missing: "failed" }],
  ["empty", { result: { action: "accept", content: {} } }, { missing: "failed" }],
  ["missing", { result: { action: "accept" } }, { missing: "failed" }],
  ["of another type", { result: { action: "accept", content: { answer: ["Run once"] } } }, { missing: "failed" }],
  ["of an unknown kind", { result: { action: "approve", content: { answer: "Run once" } } }, { missing: "failed" }],
  ["an error", { error: { code: -32603, message: "no \u001b[2Jdialog" } }, { missing: "failed" }],
])("an answer that is %s allows nothing", async (_what, response, reply) => {
  const { client, call, wait, input, ended } = await open("2025-11-25", forms);
  const called = call();
  client.send({ jsonrpc: "2.0", id: (await wait()).id, ...response });
  const result = await called;
  expect(result).toMatchObject(replied(reply));
  expect(JSON.stringify(result)).not.toContain("\\u001b");
  input.end();
  await ended;
});

test("a question that is not answered in time allows nothing, and is taken back", async () => {
  const { client, call, wait, input, ended, clock } = await open("2025-11-25", forms);
  const called = call();
  const { id } = await wait();
  clock.pass(5 * 60_000);
  expect(await called).toMatchObject(replied({ missing: "timeout" }));
  await client.wait(({ method }) => method === "notifications/cancelled");
  client.send({ jsonrpc: "2.0", id, result: { action: "accept", content: { answer: "Run once" } } });
  input.end();
  await ended;
});

test("a cancelled call takes its question back", async () => {
  const { client, call, wait, input, ended } = await open("2025-11-25", forms);
  void call();
  await wait();
  client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
  await client.wait(({ method }) => method === "notifications/cancelled");
  input.end();
  await ended;
});

test("a client has at most eight questions open", async () => {
  const limited = limitQuestions();
  const answers: (() => void)[] = [];
  const ask = limited(() => new Promise((resolve) => answers.push(() => resolve({ answer: "once" }))));
  const { signal } = new AbortController();
  const open = Array.from({ length: 8 }, () => ask(question, signal));
  expect(await ask(question, signal)).toMatchObject({ missing: "failed" });
  for (const answer of answers.splice(0)) answer();
  await Promise.all(open);
  const next = ask(question, signal);
  answers[0]?.();
  expect(await next).toEqual({ answer: "once" });
});

test("a form lists a limited number of changed files, without control characters", () => {
  const changed = Array.from({ length: 30 }, (_, index) => ({ path: `file-${index}\n\u202e` }));
  const lines = toForm({ ...question, changed }).message.split("\n");
  expect(lines.at(-1)).toBe("and 10 more files");
  expect(lines.join("")).not.toMatch(/\p{Cf}/u);
});

test.each([undefined, null, 1, "accept", [], { action: "accept", content: "Run once" }])(
  "%j is no answer",
  (response) => {
    expect(fromElicitResult(response, question)).toMatchObject({ missing: "failed" });
  },
);
