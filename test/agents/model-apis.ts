/** The model APIs that the mock supports: how to read requests and write responses. */
export interface ModelApi {
  /** Whether a request to this path asks for an answer. */
  asks(path: string): boolean;
  isStreamed(path: string, body: ModelBody): boolean;
  /** The names of the tools in a request. */
  tools(body: ModelBody): readonly string[];
  /** The results of calls in a request. */
  results(body: ModelBody): readonly ToolResult[];
  /** The messages by the user, each as its text parts. */
  userMessages(body: ModelBody): readonly (readonly string[])[];
  events(model: string, said: Said): readonly Event[];
  whole(model: string, said: Said): object;
}

export type ModelBody = Readonly<Record<string, unknown>>;
export type Input = Readonly<Record<string, unknown>>;

interface ToolResult {
  readonly id: string;
  readonly content: unknown;
}

export interface Event {
  readonly name?: string;
  readonly data: unknown;
}

export interface ToolUse {
  readonly id: string;
  readonly name: string;
  /** The group of the tool, in APIs that group tools. */
  readonly namespace?: string;
  readonly input: Input;
}

/** A text, or a call of a tool. */
type Said = { readonly text: string } | { readonly call: ToolUse };

interface Part {
  readonly type?: string;
  readonly text?: string;
  readonly tool_use_id?: string;
  readonly content?: unknown;
  readonly functionCall?: unknown;
  readonly functionResponse?: { readonly id?: string; readonly name?: string; readonly response?: unknown };
}

interface Message {
  readonly type?: string;
  readonly role?: string;
  readonly content?: unknown;
  readonly tool_call_id?: string;
  readonly call_id?: string;
  readonly output?: unknown;
  readonly parts?: readonly Part[];
}

interface Tool {
  readonly type?: string;
  readonly name?: string;
  readonly function?: { readonly name: string };
  readonly tools?: readonly Tool[];
  readonly functionDeclarations?: readonly { readonly name: string }[];
}

// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- Avoids a cast at each use.
function list<Item>(value: unknown): readonly Item[] {
  return Array.isArray(value) ? (value as readonly Item[]) : [];
}

function textsOf(content: unknown): string[] {
  if (typeof content === "string") return [content];
  return list<Part>(content).flatMap(({ text }) => (typeof text === "string" ? [text] : []));
}

function byUser(messages: readonly Message[]): string[][] {
  return messages.filter(({ role }) => role === "user").map(({ content }) => textsOf(content));
}

const usage = { input_tokens: 1, output_tokens: 1 };

/** Anthropic's Messages API. */
const messages: ModelApi = {
  asks: (path) => path === "/v1/messages",
  isStreamed: (_path, { stream }) => stream === true,
  tools: (body) => list<Tool>(body["tools"]).map(({ name = "" }) => name),
  results: (body) =>
    list<Message>(body["messages"]).flatMap(({ content }) =>
      list<Part>(content).flatMap((part) =>
        part.tool_use_id === undefined ? [] : [{ id: part.tool_use_id, content: part.content }],
      ),
    ),
  userMessages: (body) => byUser(list(body["messages"])),
  events(model, said) {
    const isCall = "call" in said;
    const block = isCall
      ? { type: "tool_use", id: said.call.id, name: said.call.name, input: {} }
      : { type: "text", text: "" };
    const delta = isCall
      ? { type: "input_json_delta", partial_json: JSON.stringify(said.call.input) }
      : { type: "text_delta", text: said.text };
    const events = [
      { type: "message_start", message: { ...anthropicMessage(model, []), stop_reason: null } },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: isCall ? "tool_use" : "end_turn", stop_sequence: null },
        usage,
      },
      { type: "message_stop" },
    ];
    return events.map((data) => ({ name: data.type, data }));
  },
  whole: (model, said) => anthropicMessage(model, "text" in said ? [{ type: "text", text: said.text }] : []),
};

function anthropicMessage(model: string, content: readonly object[]): object {
  return {
    ...{ id: "msg_mock", type: "message", role: "assistant", model, usage },
    ...{ content, stop_reason: "end_turn", stop_sequence: null },
  };
}

/** OpenAI's chat completions. */
const completions: ModelApi = {
  asks: (path) => path === "/v1/chat/completions",
  isStreamed: (_path, { stream }) => stream === true,
  tools: (body) => list<Tool>(body["tools"]).map((tool) => tool.function?.name ?? ""),
  results: (body) =>
    list<Message>(body["messages"]).flatMap(({ tool_call_id: id, content }) =>
      id === undefined ? [] : [{ id, content }],
    ),
  userMessages: (body) => byUser(list(body["messages"])),
  events(model, said) {
    const chunk = (delta: object, finishReason: string | null) => ({
      ...{ id: "chatcmpl-mock", object: "chat.completion.chunk", created: 0, model },
      choices: [{ index: 0, delta, finish_reason: finishReason }],
    });
    const isCall = "call" in said;
    const deltas = isCall ? callInParts(said.call) : [{ content: said.text }];
    const last = {
      ...chunk({}, isCall ? "tool_calls" : "stop"),
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    };
    const parts = deltas.map((delta) => ({ data: chunk({ role: "assistant", ...delta }, null) }));
    return [...parts, { data: last }, { data: "[DONE]" }];
  },
  whole(model, said) {
    const message =
      "call" in said
        ? { role: "assistant", content: null, tool_calls: [openaiCall(said.call)] }
        : { role: "assistant", content: said.text };
    const choice = { index: 0, message, finish_reason: "call" in said ? "tool_calls" : "stop" };
    return { id: "chatcmpl-mock", object: "chat.completion", created: 0, model, choices: [choice] };
  },
};

/** A call as models stream it: first its name, then its input in pieces. */
function callInParts({ id, name, input }: ToolUse): readonly object[] {
  const text = JSON.stringify(input);
  const half = Math.ceil(text.length / 2);
  const first = { index: 0, id, type: "function", function: { name, arguments: "" } };
  const pieces = [text.slice(0, half), text.slice(half)].map((piece) => ({ index: 0, function: { arguments: piece } }));
  return [first, ...pieces].map((call) => ({ content: null, tool_calls: [call] }));
}

function openaiCall({ id, name, input }: ToolUse): object {
  return { index: 0, id, type: "function", function: { name, arguments: JSON.stringify(input) } };
}

/** OpenAI's Responses API. Tools may be in groups; a call then names both. */
const responses: ModelApi = {
  asks: (path) => path === "/v1/responses",
  isStreamed: (_path, { stream }) => stream === true,
  tools: (body) =>
    list<Tool>(body["tools"]).flatMap(({ type, name = "", tools }) =>
      type === "namespace" ? list<Tool>(tools).map((tool) => `${name}${namespaceMark}${tool.name ?? ""}`) : [name],
    ),
  results: (body) =>
    list<Message>(body["input"]).flatMap(({ call_id: id, output }) =>
      id === undefined || output === undefined ? [] : [{ id, content: output }],
    ),
  userMessages: (body) => byUser(list(body["input"])),
  events(model, said) {
    const item = responseItem(said);
    const response = { id: "resp_mock", object: "response", model, output: [] };
    const added = "call" in said ? item : { ...item, content: [] };
    const events = [
      { type: "response.created", response: { ...response, status: "in_progress" } },
      { type: "response.output_item.added", output_index: 0, item: added },
      ...("text" in said
        ? [
            {
              type: "response.output_text.delta",
              item_id: "item_mock",
              output_index: 0,
              content_index: 0,
              delta: said.text,
            },
          ]
        : []),
      { type: "response.output_item.done", output_index: 0, item },
      {
        type: "response.completed",
        response: { ...response, status: "completed", output: [item], usage: { ...usage, total_tokens: 2 } },
      },
    ];
    return events.map((data) => ({ name: data.type, data }));
  },
  whole: (model, said) => ({
    ...{ id: "resp_mock", object: "response", model, status: "completed" },
    ...{ output: [responseItem(said)], usage: { ...usage, total_tokens: 2 } },
  }),
};

/** The separator between the names of a group and a tool, which contain no such character. */
export const namespaceMark = "\u0000";

function responseItem(said: Said): object {
  if ("text" in said) {
    const content = [{ type: "output_text", text: said.text, annotations: [] }];
    return { type: "message", id: "item_mock", role: "assistant", status: "completed", content };
  }
  const { id, name, namespace, input } = said.call;
  return {
    ...{ type: "function_call", id: `item_${id}`, call_id: id, name, arguments: JSON.stringify(input) },
    ...(namespace !== undefined && { namespace }),
  };
}

/** Gemini's API, which identifies results by the name of the tool if they have no id. */
const gemini: ModelApi = {
  asks: (path) => /:(?:streamGenerateContent|generateContent)$/.test(path),
  isStreamed: (path) => path.endsWith(":streamGenerateContent"),
  tools: (body) =>
    list<Tool>(body["tools"]).flatMap(({ functionDeclarations }) =>
      list<Tool>(functionDeclarations).map(({ name = "" }) => name),
    ),
  results: (body) =>
    list<Message>(body["contents"]).flatMap(({ parts }) =>
      list<Part>(parts).flatMap(({ functionResponse }) =>
        functionResponse === undefined
          ? []
          : [
              {
                id: functionResponse.id ?? functionResponse.name ?? "",
                content: JSON.stringify(functionResponse.response),
              },
            ],
      ),
    ),
  userMessages: (body) =>
    list<Message>(body["contents"])
      .filter(
        ({ role, parts }) => role === "user" && !list<Part>(parts).some(({ functionResponse }) => functionResponse),
      )
      .map(({ parts }) => textsOf(parts)),
  events: (model, said) => [{ data: geminiAnswer(model, said) }],
  whole: (model, said) => geminiAnswer(model, said),
};

function geminiAnswer(model: string, said: Said): object {
  const part =
    "call" in said
      ? { functionCall: { id: said.call.id, name: said.call.name, args: said.call.input } }
      : { text: said.text };
  return {
    candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    modelVersion: model,
  };
}

const apis: readonly ModelApi[] = [messages, completions, responses, gemini];

/** The API of a path; undefined for other requests. */
export function apiOf(path: string): ModelApi | undefined {
  return apis.find((api) => api.asks(path));
}
