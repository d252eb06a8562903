import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, expect, test } from "vitest";
import type { LoopbackAddress } from "../../src/mcp/session-servers/loopback-server.ts";
import type { RunListener } from "../../src/wire/run-event.ts";
import type { Ask, Question } from "../../src/runtime/question.ts";
import { manualClock } from "../manual-clock.ts";
import { type OpenMcpApp, openMcpApp } from "./open-mcp-app.ts";
import { modernRequest, rawRequest } from "./raw-request.ts";

const opened: OpenMcpApp[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map(({ server }) => server.close()));
});

const questionOf = (title: string): Question => ({
  about: "run",
  title,
  options: [
    { answer: "once", label: "Run once", kind: "allow_once" },
    { answer: "trust", label: "Trust this exact version", kind: "allow_always" },
    { answer: "not-now", label: "Not now", kind: "reject_once" },
  ],
  wants: [],
  widened: [],
  changed: [],
});

type Work = (ask: Ask | undefined, signal: AbortSignal, onEvent: RunListener | undefined) => Promise<unknown>;

/** Asks two questions, one after the other. */
const asksTwice: Work = async (ask, signal) => {
  const first = await ask?.(questionOf("first"), signal);
  if (first?.answer !== "once") return [first ?? "nobody"];
  return [first, await ask?.(questionOf("second"), signal)];
};

async function open(work: Work = asksTwice, ask?: Ask) {
  const clock = manualClock();
  const calls: unknown[] = [];
  const app = await openMcpApp(undefined, {
    clock,
    wrap: () => ({
      async call(_name, args, context, signal = new AbortController().signal) {
        calls.push(args);
        return { replies: await work(context.ask, signal, context.onEvent) };
      },
    }),
  });
  opened.push(app);
  const address = await app.server.open({ ...app.caller, ...(ask ? { ask } : { asksClient: true }) });
  return { address, clock, calls, app };
}

const forms = { elicitation: { form: {} } };

interface Result {
  readonly resultType?: string;
  readonly requestState?: string;
  readonly inputRequests?: { readonly answer: { readonly params: { readonly message: string } } };
  readonly structuredContent?: { readonly replies: unknown };
  readonly isError?: boolean;
}

async function send(
  address: LoopbackAddress,
  more: Record<string, unknown> = {},
  capabilities: object = forms,
): Promise<Result> {
  const params = { name: "list_skills", arguments: { query: "x" }, ...more };
  const { message } = await rawRequest(address, modernRequest("tools/call", params, capabilities));
  return message.result as Result;
}

const choosing = (answer: unknown) => ({ inputResponses: { answer: { action: "accept", content: { answer } } } });
const messageOf = ({ inputRequests }: Result) => inputRequests?.answer.params.message;

test("a call with questions is answered with them one by one, and runs once", async () => {
  const { address, calls } = await open();
  const first = await send(address);
  expect([first.resultType, messageOf(first)]).toEqual(["input_required", "first"]);
  const second = await send(address, { requestState: first.requestState, ...choosing("Run once") });
  expect([second.resultType, messageOf(second)]).toEqual(["input_required", "second"]);
  expect(second.requestState).not.toBe(first.requestState);
  const result = await send(address, { requestState: second.requestState, ...choosing("Not now") });
  expect(result.structuredContent).toMatchObject({ replies: [{ answer: "once" }, { answer: "not-now" }] });
  expect(calls).toHaveLength(1);
});

test.each([
  [399, { answer: "once", byItself: true }],
  [400, { answer: "trust" }],
])("trust after %i ms counts as %j", async (elapsed, reply) => {
  const { address, clock } = await open(async (ask, signal) => [await ask?.(questionOf("first"), signal)]);
  const { requestState } = await send(address);
  clock.pass(elapsed);
  const result = await send(address, { requestState, ...choosing("Trust this exact version") });
  expect(result.structuredContent).toEqual({ replies: [reply] });
});

test("an answer counts once, for the question that it was given to, and only with its state", async () => {
  const { address, calls } = await open();
  const first = await send(address);
  const guessed = await send(address, {
    requestState: "00000000-0000-4000-8000-000000000000",
    ...choosing("Run once"),
  });
  expect(guessed).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("no longer open") as string }],
  });
  const second = await send(address, { requestState: first.requestState, ...choosing("Run once") });
  expect(messageOf(second)).toBe("second");
  expect(await send(address, { requestState: first.requestState, ...choosing("Run once") })).toMatchObject({
    isError: true,
  });
  expect(calls).toHaveLength(1);
  const unanswered = await send(address, choosing("Run once"));
  expect(messageOf(unanswered), "an answer without a state is a new call").toBe("first");
});

test.each([
  ["none", {}],
  ["unknown", choosing("Yes")],
  ["of another question", { inputResponses: { other: { action: "accept", content: { answer: "Run once" } } } }],
])("an answer that is %s allows nothing", async (_what, answer) => {
  const { address } = await open();
  const { requestState } = await send(address);
  const result = await send(address, { requestState, ...answer });
  expect(result.structuredContent).toMatchObject({ replies: [{ missing: "failed" }] });
});

test("a question that is not answered in time allows nothing, and the call is over", async () => {
  const replies: unknown[] = [];
  const { address, clock } = await open(async (ask, signal) => {
    replies.push(await ask?.(questionOf("first"), signal));
    return replies;
  });
  const { requestState } = await send(address);
  clock.pass(5 * 60_000);
  await expect.poll(() => replies).toEqual([{ missing: "timeout" }]);
  expect(await send(address, { requestState, ...choosing("Run once") })).toMatchObject({ isError: true });
  expect(clock.pending).toBe(0);
});

test("questions that a call asks at the same time come one after the other", async () => {
  const { address } = await open(async (ask, signal) => {
    return await Promise.all(["a", "b", "c"].map(async (title) => await ask?.(questionOf(title), signal)));
  });
  const titles: unknown[] = [];
  let result = await send(address);
  for (; result.resultType === "input_required";) {
    titles.push(messageOf(result));
    result = await send(address, { requestState: result.requestState, ...choosing("Run once") });
  }
  expect(titles).toEqual(["a", "b", "c"]);
  expect(result.structuredContent).toMatchObject({ replies: Array(3).fill({ answer: "once" }) });
});

test("a client that shows no forms is not asked, nor one whose editor is", async () => {
  const { address } = await open();
  for (const capabilities of [{}, { elicitation: { url: {} } }]) {
    expect((await send(address, {}, capabilities)).structuredContent).toEqual({ replies: ["nobody"] });
  }
  const editor = await open(asksTwice, () => Promise.resolve({ answer: "not-now" }));
  expect((await send(editor.address)).structuredContent).toEqual({ replies: [{ answer: "not-now" }] });
});

test("the client of the library asks its user, and gets the result of the one call", async () => {
  const { address, calls } = await open();
  const client = new Client(
    { name: "asking", version: "1" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  const seen: unknown[] = [];
  client.setRequestHandler("elicitation/create", ({ params }) => {
    seen.push(params.message);
    return { action: "accept", content: { answer: "Run once" } };
  });
  const transport = new StreamableHTTPClientTransport(new URL(address.url), {
    requestInit: { headers: address.headers },
  });
  await client.connect(transport);
  const result = await client.callTool({ name: "list_skills", arguments: {} });
  expect(result.structuredContent).toMatchObject({ replies: [{ answer: "once" }, { answer: "once" }] });
  expect(seen).toEqual(["first", "second"]);
  expect(calls).toHaveLength(1);
  await client.close();
});
