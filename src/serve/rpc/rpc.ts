import type { ServerResponse } from "node:http";
import { isJsonContentType, readJsonBody } from "../../wire/http/read-body.ts";
import { SkillsError, isSkillsError } from "../../base/errors.ts";
import { toWireError } from "../../wire/error-table.ts";
import { isRefusal, onlyPost, refuse } from "../../wire/http/refusal.ts";
import type { HttpCaller, HttpDoor, HttpRequestListener } from "../http-door.ts";
import { createListedPages } from "./listed-pages.ts";
import { type RpcBody, type RpcId, type RpcMessage, readRpcBody } from "./rpc-envelope.ts";
import { servedTools } from "../../wire/tools.ts";

type CallMessage = Exclude<RpcMessage, { readonly type: "invalid" }>;

const listing = "list_skills";

/** Of a response; its result and `}` follow. */
function resultStart(id: RpcId): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
}

const end = Buffer.from("}");

const json = "application/json";

/** Answers `POST /rpc` (CONTRACT C-2.2): 200 for every JSON-RPC reply, 204 for notifications, other statuses before a call. */
export function createRpcListener(
  door: Pick<HttpDoor, "app" | "config" | "publication" | "stopped" | "metrics" | "unread">,
): HttpRequestListener {
  const { app, config, metrics } = door;
  const { toolbox, log } = app;
  const pages = createListedPages(door);

  /** The JSON of a result. */
  async function call({ method, params }: CallMessage, caller: HttpCaller, signal: () => AbortSignal): Promise<string> {
    const isListing = method === listing;
    const slot = isListing ? pages.slot(caller, params) : undefined;
    if (slot?.bytes !== undefined) return slot.bytes.toString();
    const output = await toolbox.call(method, params ?? {}, caller.tools, isListing ? undefined : signal());
    const text = JSON.stringify(output);
    slot?.keep(text);
    return text;
  }

  /** The JSON of a response; undefined for a notification. */
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
      return errorText(id, door.stopped.aborted && !isSkillsError(error) ? stopping() : error);
    } finally {
      metrics.callEnded(method, code, performance.now() - startedAt);
    }
  }

  /** Answers with a page that is kept, without waiting: it is what clients ask for most. False if there is none. */
  function answerKept(body: RpcBody, caller: HttpCaller, response: ServerResponse): boolean {
    const message = body.batch ? undefined : body.message;
    if (message?.type !== "call" || message.method !== listing) return false;
    const bytes = pages.slot(caller, message.params)?.bytes;
    if (bytes === undefined) return false;
    metrics.callEnded(listing, undefined, 0);
    const start = Buffer.from(resultStart(message.id));
    const whole = Buffer.concat([start, bytes, end]);
    response.writeHead(200, { "content-type": json, "cache-control": "no-store", "content-length": whole.length });
    response.end(whole);
    return true;
  }

  function errorText(id: RpcId, error: unknown): string {
    return JSON.stringify({ jsonrpc: "2.0", id, error: toWireError(error, { log }) });
  }

  return async (request, response, caller, take) => {
    if (request.method !== "POST") {
      refuse(response, onlyPost());
      return;
    }
    if (!isJsonContentType(request.headers["content-type"])) {
      const message = "Send the request with Content-Type: application/json.";
      refuse(response, { status: 415, code: "INVALID_REQUEST", message });
      return;
    }
    const bytes = await readJsonBody(request, { maxBytes: caller.requestBytes });
    if (isRefusal(bytes)) {
      refuse(response, bytes);
      return;
    }
    const signal = signalOf(response, door.stopped);
    const body = readBodyText(bytes);
    if (typeof body !== "string" && answerKept(body, caller, response)) return;
    const refused = typeof body !== "string" && body.batch ? take(body.messages.length - 1) : undefined;
    if (refused !== undefined) {
      refuse(response, refused);
      return;
    }
    const text = typeof body === "string" ? body : await answerBody(body, caller, signal);
    if (response.destroyed) return;
    if (text === undefined) {
      response.writeHead(204, { "cache-control": "no-store" }).end();
      return;
    }
    const whole = Buffer.from(text);
    const full = door.unread.hold(whole, response, caller);
    if (full !== undefined) refuse(response, full);
    else response.writeHead(200, { "content-type": json, "cache-control": "no-store" }).end(whole);
  };

  /** What is asked for, or the JSON of the error. */
  function readBodyText(bytes: Buffer): RpcBody | string {
    try {
      return readRpcBody(parse(bytes), config.limits.batch);
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
}

/** Made only for calls that can be long; a client that has left cancels them. */
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

function stopping(): SkillsError {
  return new SkillsError("RUNTIME_BUSY", "The server is being stopped; the call was cancelled.");
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function parse(bytes: Buffer): unknown {
  try {
    const text = bytes.toString("utf8");
    // Decoding strictly costs more than parsing; this character also stands for what is not UTF-8.
    return JSON.parse(text.includes("\u{FFFD}") ? utf8.decode(bytes) : text);
  } catch {
    throw new SkillsError("PARSE_ERROR", "The request body is not valid JSON.");
  }
}
