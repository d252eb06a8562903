import type { ServerResponse } from "node:http";
import { LimitedMap } from "../../base/limited-map.ts";
import { SkillsError, isSkillsError } from "../../base/errors.ts";
import { toWireError } from "../../wire/error-table.ts";
import { parseJsonBody, readJsonBody, isRefusal } from "../../wire/http.ts";
import { servedTools } from "../../wire/tools.ts";
import type { Publication } from "../publish/publication.ts";
import type { RouteResult, CreateRoutes, HttpExchange, HttpCaller, ServeContext } from "../serve-context.ts";

type CallMessage = Exclude<RpcMessage, { readonly type: "invalid" }>;

const listing = "list_skills";

/** Formats the start of a response; its result and `}` follow. */
function resultStart(id: RpcId): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
}

const end = Buffer.from("}");

const headers = { "content-type": "application/json", "cache-control": "no-store" };

/** `POST /rpc`: 200 for every JSON-RPC reply, 204 for notifications, other statuses before a call. */
export const rpcRoutes: CreateRoutes = (context) => {
  const { app, config, metrics, stopped, unread } = context;
  const { toolbox, log } = app;
  const pages = createListedPages(context);

  /** Returns the JSON of a result. */
  async function call({ method, params }: CallMessage, caller: HttpCaller, signal: () => AbortSignal): Promise<string> {
    const isListing = method === listing;
    const slot = isListing ? pages.slot(caller, params) : undefined;
    if (slot?.bytes !== undefined) return slot.bytes.toString();
    const output = await toolbox.call(method, params ?? {}, caller.tools, isListing ? undefined : signal());
    const text = JSON.stringify(output);
    slot?.store(text);
    return text;
  }

  /** Returns the JSON of a response; undefined for a notification. */
  async function reply(
    message: RpcMessage,
    caller: HttpCaller,
    signal: () => AbortSignal,
  ): Promise<string | undefined> {
    if (message.type === "invalid") return errorText(message.id, message.error);
    const { method } = message;
    const isNotification = message.type === "notification";
    const id = isNotification ? null : message.id;
    const startedAt = performance.now();
    let code: string | undefined;
    try {
      if (isNotification && servedTools.get(method)?.executes === true)
        throw new SkillsError("INVALID_REQUEST", `${method} is not a notification: send an id, and read the result.`);
      const result = await call(message, caller, signal);
      return isNotification ? undefined : `${resultStart(id)}${result}}`;
    } catch (error) {
      code = isSkillsError(error) ? error.code : "INTERNAL";
      if (isNotification && code !== "INVALID_REQUEST") return undefined;
      const stopping = new SkillsError("RUNTIME_BUSY", "The server is being stopped; the call was cancelled.");
      return errorText(id, stopped.aborted && !isSkillsError(error) ? stopping : error);
    } finally {
      metrics.callEnded(method, code, performance.now() - startedAt);
    }
  }

  /** Answers with a cached page, the most frequent request, without waiting. False if there is none. */
  function answerCached(body: RpcBody, { caller, response }: HttpExchange): boolean {
    const message = body.batch ? undefined : body.message;
    if (message?.type !== "call" || message.method !== listing) return false;
    const bytes = pages.slot(caller, message.params)?.bytes;
    if (bytes === undefined) return false;
    metrics.callEnded(listing, undefined, 0);
    const whole = Buffer.concat([Buffer.from(resultStart(message.id)), bytes, end]);
    response.writeHead(200, { ...headers, "content-length": whole.length }).end(whole);
    return true;
  }

  function errorText(id: RpcId, error: unknown): string {
    return JSON.stringify({ jsonrpc: "2.0", id, error: toWireError(error, { log }) });
  }

  async function answer(exchange: HttpExchange): Promise<RouteResult> {
    const { request, response, caller, limiter } = exchange;
    const bytes = await readJsonBody(request, { maxBytes: caller.requestBytes });
    if (isRefusal(bytes)) return bytes;
    const signal = signalOf(response, stopped);
    const body = readBodyText(bytes);
    if (typeof body !== "string" && answerCached(body, exchange)) return undefined;
    const refused = typeof body !== "string" && body.batch ? limiter?.take(body.messages.length - 1) : undefined;
    if (refused !== undefined) return refused;
    const text = typeof body === "string" ? body : await answerBody(body, caller, signal);
    if (response.destroyed) return undefined;
    if (text === undefined) {
      response.writeHead(204, { "cache-control": "no-store" }).end();
      return undefined;
    }
    const whole = Buffer.from(text);
    return unread.hold(whole, response, caller) ?? exchange.send(200, whole, headers);
  }

  /** Returns the request, or the JSON of the error. */
  function readBodyText(bytes: Buffer): RpcBody | string {
    try {
      return readRpcBody(parseJsonBody(bytes), config.limits.batch);
    } catch (error) {
      return errorText(null, error);
    }
  }

  async function answerBody(body: RpcBody, caller: HttpCaller, signal: () => AbortSignal): Promise<string | undefined> {
    if (!body.batch) return await reply(body.message, caller, signal);
    const replies = await Promise.all(body.messages.map((message) => reply(message, caller, signal)));
    const texts = replies.filter((text) => text !== undefined);
    return texts.length === 0 ? undefined : `[${texts.join(",")}]`;
  }

  return [{ method: "POST", path: "/rpc", isIndependent: true, answer }];
};

/** Returns a function that creates a signal at its first call, for long calls only: aborted when the client leaves or the server stops. */
function signalOf(response: ServerResponse, stopped: AbortSignal): () => AbortSignal {
  let controller: AbortController | undefined;
  return () => {
    if (controller === undefined) {
      const made = (controller = new AbortController());
      const abort = (): void => made.abort(new Error("The client disconnected, or the server was stopped."));
      if (response.destroyed || stopped.aborted) abort();
      response.once("close", () => {
        stopped.removeEventListener("abort", abort);
        if (!response.writableFinished) abort();
      });
      stopped.addEventListener("abort", abort, { once: true });
    }
    return controller.signal;
  };
}

/** The entry of the cache for one page of `list_skills`. */
interface PageSlot {
  /** The JSON of the page in UTF-8, if it is cached: encoding it for each answer would take longer than all else. */
  readonly bytes: Buffer | undefined;
  /** Caches the page, unless the skills have changed meanwhile. */
  readonly store: (text: string) => void;
}

const maxPages = 200;
/** The maximum length of cached parameters; longer ones, such as long queries, are rare. */
const maxKey = 512;

/**
 * Caches pages until the publication changes, which follows the skills and the policy: a page depends on nothing else. Listing is the most
 * frequent request, and its answer is the same for all callers with one view.
 */
export function createListedPages({ publication }: Pick<ServeContext, "publication">): {
  /** Returns the entry for a page; undefined if the page is not to be cached. */
  slot(caller: HttpCaller, params: object | undefined): PageSlot | undefined;
} {
  let of: Publication | undefined;
  let pages = new LimitedMap<string, Buffer>(maxPages);

  function keyOf({ view, tools }: HttpCaller, params: object | undefined): string | undefined {
    if (tools.tools?.includes("list_skills") === false || Array.isArray(params)) return undefined;
    // No parameter is an object: such a call is refused, and writing a deep value as JSON would overflow the stack.
    if (Object.values(params ?? {}).some((value) => typeof value === "object")) return undefined;
    const key = `${view}\n${params === undefined ? "" : JSON.stringify(params)}`;
    return key.length <= maxKey + view.length ? key : undefined;
  }

  return {
    slot(caller, params) {
      const key = keyOf(caller, params);
      if (key === undefined) return undefined;
      const now = publication();
      if (of !== now) {
        of = now;
        pages = new LimitedMap(maxPages);
      }
      // After a change, this map is never read again.
      const current = pages;
      return { bytes: current.get(key), store: (text) => current.set(key, Buffer.from(text)) };
    },
  };
}

/** A JSON-RPC 2.0 request or notification, or the error of an invalid one. Ids of the wrong type are answered as null. */
type RpcMessage =
  | { readonly type: "call"; readonly id: RpcId; readonly method: string; readonly params: object | undefined }
  | { readonly type: "notification"; readonly method: string; readonly params: object | undefined }
  | { readonly type: "invalid"; readonly id: RpcId; readonly error: SkillsError };

type RpcId = string | number | null;

/** The content of a body: one message, or a batch of messages that is answered in order. */
type RpcBody =
  { readonly batch: false; readonly message: RpcMessage } | { readonly batch: true; readonly messages: RpcMessage[] };

/** Reads a parsed body. Pure. Throws INVALID_REQUEST for a batch that is empty or too long. */
export function readRpcBody(body: unknown, maxBatch: number): RpcBody {
  if (!Array.isArray(body)) return { batch: false, message: readRpcMessage(body) };
  if (body.length === 0) throw invalid("The batch is empty.");
  if (body.length > maxBatch)
    throw invalid(`The batch has ${body.length} requests; the limit is ${maxBatch}. Send several batches.`);
  return { batch: true, messages: body.map(readRpcMessage) };
}

function readRpcMessage(value: unknown): RpcMessage {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { type: "invalid", id: null, error: invalid("A request must be an object.") };
  const { jsonrpc, method, params, id } = value as Partial<Record<string, unknown>>;
  const hasId = "id" in value;
  if (hasId && !isId(id))
    return { type: "invalid", id: null, error: invalid("id must be a string, a number or null.") };
  const answered = hasId ? (id as RpcId) : null;
  const refuse = (message: string): RpcMessage => ({ type: "invalid", id: answered, error: invalid(message) });
  if (jsonrpc !== "2.0") return refuse('jsonrpc must be "2.0".');
  if (typeof method !== "string") return refuse("method must be a string: the name of a tool.");
  // An array has parameters by position: a valid request, which the tool refuses.
  if (params !== undefined && (typeof params !== "object" || params === null))
    return refuse("params must be an object, or absent.");
  return hasId ? { type: "call", id: answered, method, params } : { type: "notification", method, params };
}

function isId(id: unknown): id is RpcId {
  return id === null || typeof id === "string" || (typeof id === "number" && Number.isFinite(id));
}

function invalid(message: string): SkillsError {
  return new SkillsError("INVALID_REQUEST", message);
}
