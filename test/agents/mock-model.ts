import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type Event,
  type Input,
  type ModelApi,
  type ModelBody,
  type ToolUse,
  apiOf,
  namespaceMark,
} from "./model-apis.ts";

/** The parts of an agent's request that tests need. */
export interface ModelRequest {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

export interface MockModel {
  /** Base URL without a trailing slash; paths of Anthropic and OpenAI start with `/v1`, those of Gemini with `/v1beta`. */
  readonly url: string;
  /**
   * The model calls these tools one after another, in each case when a request offers a tool of that name, with any prefix;
   * then it answers as usual. An input may be computed from the results so far.
   */
  readonly plan: (calls: readonly PlannedCall[]) => void;
  /** The same in conversations of which a message by the user contains a text, such as those of a subagent. Comes after `plan`. */
  readonly planAbout: (text: string, calls: readonly PlannedCall[]) => void;
  /** The results of the planned calls, as sent to the model. */
  readonly results: readonly string[];
  /** All requests so far, in order. */
  readonly requests: readonly ModelRequest[];
  readonly close: () => Promise<void>;
}

/** A planned call of a tool. */
export interface PlannedCall {
  readonly tool: string;
  readonly input: Input | ((results: readonly string[]) => Input);
  /** It starts a subagent, whose model makes the calls that follow. Its own result is not waited for, and not among the results. */
  readonly startsSubagent?: true;
}

interface Script {
  readonly about: string;
  readonly waiting: PlannedCall[];
  called: ToolUse | undefined;
}

/** The model's answer if no call is planned. */
export const reply = "The mock model has answered.";

/**
 * Opens a model on loopback that speaks Anthropic's Messages API, OpenAI's chat completions and responses, and Gemini's API, streamed
 * or not. It answers every request with the same sentence, or with a planned call, and records the requests.
 */
export async function openMockModel(): Promise<MockModel> {
  const requests: ModelRequest[] = [];
  /** The last one is of all conversations that no other one is about. */
  let scripts: Script[] = [];
  const results: string[] = [];
  let lastId = 0;

  /** The planned call that answers this request, if any. */
  function chooseCall(api: ModelApi, body: ModelBody): ToolUse | undefined {
    const texts = api.userMessages(body).flat();
    const script = scripts.find(({ about }) => texts.some((text) => text.includes(about))) ?? scripts.at(-1);
    if (script === undefined) return undefined;
    const { waiting } = script;
    if (script.called !== undefined) {
      const { id, name } = script.called;
      const result = api.results(body).findLast((other) => other.id === id || other.id === name);
      // Agents also make requests outside of turns, for example for a title.
      if (result === undefined) return undefined;
      results.push(textOf(result.content));
      script.called = undefined;
    }
    const [next] = waiting;
    if (next === undefined) return undefined;
    const offered = api.tools(body);
    const isNext = new RegExp(`(?:^|[^a-z])${next.tool}(?:$|[^a-z])`);
    const name = offered.find((candidate) => isNext.test(candidate));
    if (name === undefined) return undefined;
    waiting.shift();
    const input = typeof next.input === "function" ? next.input(results) : next.input;
    const [group = "", grouped] = name.split(namespaceMark);
    const id = `call_${++lastId}`;
    const call = grouped === undefined ? { id, name, input } : { id, name: grouped, namespace: group, input };
    script.called = next.startsSubagent ? undefined : call;
    return call;
  }

  const server = createServer((request, response) => {
    readJson(request)
      .then((body) => {
        const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
        requests.push({ method: request.method ?? "GET", path, body });
        send(response, answer(path, toBody(body), chooseCall));
      })
      .catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    results,
    plan(calls) {
      scripts = [{ about: "", waiting: [...calls], called: undefined }];
      results.splice(0);
    },
    planAbout(about, calls) {
      scripts.unshift({ about, waiting: [...calls], called: undefined });
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The text parts of the last message by the user in a request. */
export function lastUserParts({ path, body }: ModelRequest): readonly string[] {
  return apiOf(path)?.userMessages(toBody(body)).at(-1) ?? [];
}

/** The requests that ask for an answer. */
export function questions(model: MockModel): ModelRequest[] {
  return model.requests.filter(({ path }) => apiOf(path) !== undefined);
}

function toBody(body: unknown): ModelBody {
  return (body ?? {}) as ModelBody;
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  return text === "" ? undefined : JSON.parse(text);
}

type Answer = { readonly status: number; readonly json: unknown } | { readonly events: readonly Event[] };

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map(({ text }: { text?: string }) => text ?? "").join("") : "";
}

function answer(
  path: string,
  body: ModelBody,
  chooseCall: (api: ModelApi, body: ModelBody) => ToolUse | undefined,
): Answer {
  const api = apiOf(path);
  if (api !== undefined) {
    const model = typeof body["model"] === "string" ? body["model"] : "mock";
    const call = chooseCall(api, body);
    const said = call === undefined ? { text: isReview(body) ? allowed : reply } : { call };
    return api.isStreamed(path, body)
      ? { events: api.events(model, said) }
      : { status: 200, json: api.whole(model, said) };
  }
  switch (path) {
    case "/v1/messages/count_tokens":
      return { status: 200, json: { input_tokens: 1 } };
    case "/v1/models":
      return { status: 200, json: { data: [{ type: "model", id: "mock", display_name: "Mock" }], has_more: false } };
    default:
      return { status: 404, json: { type: "error", error: { type: "not_found_error", message: path } } };
  }
}

/** What Codex expects of the model that reviews a call of a tool. */
const allowed = JSON.stringify({ outcome: "allow" });

function isReview({ text }: ModelBody): boolean {
  return JSON.stringify(text ?? {}).includes('"enum":["allow","deny"]');
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
