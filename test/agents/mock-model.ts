import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request an agent made, as far as tests care. */
export interface ModelRequest {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

export interface MockModel {
  /** Base address without a trailing slash; Anthropic's paths start at `/v1`, OpenAI's too. */
  readonly url: string;
  /**
   * The model calls these tools one after another, as soon as it is asked something and has one of that name, whatever an agent puts
   * before the name; then it answers as always. An input may be made from the results so far.
   */
  readonly plan: (calls: readonly PlannedCall[]) => void;
  /** What came of the planned calls, as the model was told. */
  readonly results: readonly string[];
  /** Everything asked so far, in order. */
  readonly requests: readonly ModelRequest[];
  readonly close: () => Promise<void>;
}

type Input = Readonly<Record<string, unknown>>;

/** A tool that the model is to call. */
interface PlannedCall {
  readonly tool: string;
  readonly input: Input | ((results: readonly string[]) => Input);
}

/** What the model says when it has no tool to call. */
export const reply = "The mock model has answered.";

/** Paths that ask the model for an answer; all others are bookkeeping. */
const messagesPath = "/v1/messages";
const completionsPath = "/v1/chat/completions";

/**
 * Opens a model on loopback that speaks Anthropic's Messages API and OpenAI's chat completions, streamed or whole.
 * It answers every question with the same sentence, or with a call that was planned, and keeps what it was asked.
 */
export async function openMockModel(): Promise<MockModel> {
  const requests: ModelRequest[] = [];
  const waiting: PlannedCall[] = [];
  const results: string[] = [];
  let isCalled = false;
  let lastId = 0;

  /** The tool that this question is answered with, if one is due. */
  function chooseCall(body: unknown): ToolUse | undefined {
    const names = offeredTools(body);
    if (isCalled) {
      const result = toolResult(body, `call_${lastId}`);
      // Agents ask beside their turns too, for a title for example.
      if (result === undefined) return undefined;
      results.push(result);
      isCalled = false;
    }
    const [next] = waiting;
    const name = next && names.find((offered) => offered.endsWith(`_${next.tool}`));
    if (next === undefined || name === undefined) return undefined;
    waiting.shift();
    isCalled = true;
    const input = typeof next.input === "function" ? next.input(results) : next.input;
    return { id: `call_${++lastId}`, name, input };
  }

  const server = createServer((request, response) => {
    readJson(request)
      .then((body) => {
        const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
        requests.push({ method: request.method ?? "GET", path, body });
        send(response, answer(path, body, chooseCall));
      })
      .catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    results,
    plan(calls) {
      waiting.splice(0, waiting.length, ...calls);
      results.splice(0);
      isCalled = false;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The text parts of the last message by the user in a request. */
export function lastUserParts({ body }: ModelRequest): string[] {
  const { messages } = (body ?? {}) as { messages?: readonly { role?: unknown; content?: unknown }[] };
  const content = messages?.findLast(({ role }) => role === "user")?.content;
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: { text?: unknown }) => (typeof part.text === "string" ? [part.text] : []));
}

/** Those requests that ask for an answer. */
export function questions(model: MockModel): ModelRequest[] {
  return model.requests.filter(({ path }) => path === messagesPath || path === completionsPath);
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  return text === "" ? undefined : JSON.parse(text);
}

type Answer = { readonly status: number; readonly json: unknown } | { readonly events: readonly Event[] };

interface Event {
  readonly name?: string;
  readonly data: unknown;
}

interface ToolUse {
  readonly id: string;
  readonly name: string;
  readonly input: Input;
}

interface ModelBody {
  readonly tools?: readonly { readonly name?: string; readonly function?: { readonly name: string } }[];
  readonly messages?: readonly { readonly role: string; readonly content: unknown; readonly tool_call_id?: string }[];
}

/** The names of the tools in a question to either API. */
function offeredTools(body: unknown): readonly string[] {
  const { tools = [] } = (body ?? {}) as ModelBody;
  return tools.map((tool) => tool.function?.name ?? tool.name ?? "");
}

/** What came of one call, in a question to either API. */
function toolResult(body: unknown, id: string): string | undefined {
  const { messages = [] } = (body ?? {}) as ModelBody;
  const results = messages.flatMap((message) => {
    if (message.role === "tool") return [{ id: message.tool_call_id, content: message.content }];
    if (!Array.isArray(message.content)) return [];
    return (message.content as { tool_use_id?: string; content?: unknown }[]).map(({ tool_use_id, content }) => {
      return { id: tool_use_id, content };
    });
  });
  const found = results.find((result) => result.id === id);
  return found && textOf(found.content);
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map(({ text }: { text?: string }) => text ?? "").join("") : "";
}

function answer(path: string, body: unknown, chooseCall: (body: unknown) => ToolUse | undefined): Answer {
  const { model = "mock", stream = false } = (body ?? {}) as { model?: string; stream?: boolean };
  switch (path) {
    case messagesPath:
      return stream ? { events: messageEvents(model, chooseCall(body)) } : { status: 200, json: message(model) };
    case completionsPath:
      return stream ? { events: completionEvents(model, chooseCall(body)) } : { status: 200, json: completion(model) };
    case "/v1/messages/count_tokens":
      return { status: 200, json: { input_tokens: 1 } };
    case "/v1/models":
      return { status: 200, json: { data: [{ type: "model", id: "mock", display_name: "Mock" }], has_more: false } };
    default:
      return { status: 404, json: { type: "error", error: { type: "not_found_error", message: path } } };
  }
}

function send(response: ServerResponse, given: Answer): void {
  if ("json" in given) {
    response.writeHead(given.status, { "content-type": "application/json" });
    response.end(JSON.stringify(given.json));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  for (const { name, data } of given.events) {
    if (name !== undefined) response.write(`event: ${name}\n`);
    response.write(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
  }
  response.end();
}

const usage = { input_tokens: 1, output_tokens: 1 };

function message(model: string): object {
  return {
    ...{ id: "msg_mock", type: "message", role: "assistant", model, usage },
    ...{ content: [{ type: "text", text: reply }], stop_reason: "end_turn", stop_sequence: null },
  };
}

function messageEvents(model: string, call: ToolUse | undefined): Event[] {
  if (call !== undefined) return toolUseEvents(model, call);
  const events = [
    { type: "message_start", message: { ...message(model), content: [], stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: reply } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
  return events.map((data) => ({ name: data.type, data }));
}

function toolUseEvents(model: string, { id, name, input }: ToolUse): Event[] {
  const events = [
    { type: "message_start", message: { ...message(model), content: [], stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: { type: "tool_use", id, name, input: {} } },
    {
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json: JSON.stringify(input) },
    },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
  return events.map((data) => ({ name: data.type, data }));
}

function completion(model: string): object {
  const choice = { index: 0, message: { role: "assistant", content: reply }, finish_reason: "stop" };
  return { id: "chatcmpl-mock", object: "chat.completion", created: 0, model, choices: [choice] };
}

function completionEvents(model: string, call: ToolUse | undefined): Event[] {
  const chunk = (delta: object, finishReason: string | null) => ({
    ...{ id: "chatcmpl-mock", object: "chat.completion.chunk", created: 0, model },
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
  const toolCall = call && {
    ...{ index: 0, id: call.id, type: "function" },
    function: { name: call.name, arguments: JSON.stringify(call.input) },
  };
  const said = toolCall ? { content: null, tool_calls: [toolCall] } : { content: reply };
  return [
    { data: chunk({ role: "assistant", ...said }, null) },
    {
      data: {
        ...chunk({}, toolCall ? "tool_calls" : "stop"),
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      },
    },
    { data: "[DONE]" },
  ];
}
