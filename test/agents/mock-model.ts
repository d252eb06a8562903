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
  /** Everything asked so far, in order. */
  readonly requests: readonly ModelRequest[];
  readonly close: () => Promise<void>;
}

/** What the model always says. */
export const reply = "The mock model has answered.";

/** Paths that ask the model for an answer; all others are bookkeeping. */
const messagesPath = "/v1/messages";
const completionsPath = "/v1/chat/completions";

/**
 * Opens a model on loopback that speaks Anthropic's Messages API and OpenAI's chat completions, streamed or whole.
 * It answers every question with the same sentence, and keeps what it was asked.
 */
export async function openMockModel(): Promise<MockModel> {
  const requests: ModelRequest[] = [];
  const server = createServer((request, response) => {
    readJson(request)
      .then((body) => {
        const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
        requests.push({ method: request.method ?? "GET", path, body });
        send(response, answer(path, body));
      })
      .catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
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

function answer(path: string, body: unknown): Answer {
  const { model = "mock", stream = false } = (body ?? {}) as { model?: string; stream?: boolean };
  switch (path) {
    case messagesPath:
      return stream ? { events: messageEvents(model) } : { status: 200, json: message(model) };
    case completionsPath:
      return stream ? { events: completionEvents(model) } : { status: 200, json: completion(model) };
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

function messageEvents(model: string): Event[] {
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

function completion(model: string): object {
  const choice = { index: 0, message: { role: "assistant", content: reply }, finish_reason: "stop" };
  return { id: "chatcmpl-mock", object: "chat.completion", created: 0, model, choices: [choice] };
}

function completionEvents(model: string): Event[] {
  const chunk = (delta: object, finishReason: string | null) => ({
    ...{ id: "chatcmpl-mock", object: "chat.completion.chunk", created: 0, model },
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
  return [
    { data: chunk({ role: "assistant", content: reply }, null) },
    { data: { ...chunk({}, "stop"), usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } } },
    { data: "[DONE]" },
  ];
}
