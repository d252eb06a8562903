import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import {
  type McpRequestContext,
  type McpServer,
  createMcpHandler,
  isJsonContentType,
} from "@modelcontextprotocol/server";
import { isObject, parseIfJson } from "../base/json/json-value.ts";
import { type HttpRefusal, isRefusal, nothingHere, refuse, maxBodyBytes, readJsonBody } from "../wire/http.ts";
import type { McpCaller, McpApp } from "./mcp-caller.ts";
import { asksForInstructions, createMcpServerFactory, declaresSkillsExtension } from "./mcp-server.ts";

/** One caller's MCP server over Streamable HTTP, for admitted requests. */
export interface HttpMcp {
  /** Answers a request. `take` receives the number of further messages of a batch, and returns a refusal if they are too many. */
  answer(
    request: IncomingMessage,
    response: ServerResponse,
    take?: (messages: number) => HttpRefusal | undefined,
  ): Promise<void>;
  /** Cancels running calls. */
  close(): Promise<void>;
}

export interface HttpMcpOptions {
  /** The maximum size of a request, in bytes. */
  readonly maxBytes?: number;
  /** The maximum number of keys and values in a request's body. Default: unlimited, for agents of this machine's user. */
  readonly maxValues?: number;
  /** The maximum number of messages in a request. Default: as many as the library allows. */
  readonly maxBatch?: number;
  /** Whether all requests are of one client, so that one may cancel another. Default: true. */
  readonly isOneClient?: boolean;
}

export function openHttpMcp(
  app: McpApp,
  caller: McpCaller,
  { maxBytes = maxBodyBytes, maxValues = Infinity, maxBatch = Infinity, isOneClient }: HttpMcpOptions = {},
): HttpMcp {
  const makeServer = createMcpServerFactory(app, caller);
  const messages = new WeakMap<Request, unknown>();
  // Before 2026-07-28 there is no stream over which a client without a session could be notified.
  const toServer = ({ era, requestInfo }: McpRequestContext): Promise<McpServer> => {
    const message = requestInfo === undefined ? undefined : messages.get(requestInfo);
    return makeServer({
      notifiesOfChanges: era === "modern",
      declaresSkills: declaresSkillsExtension(message),
      // Before 2026-07-28 a server without sessions cannot send requests; since then it asks by results.
      answersQuestions: false,
      hasInstructions: asksForInstructions(message),
    });
  };
  const handler = createMcpHandler(toServer, {
    maxRequestBodySize: maxBytes,
    onerror: (error) => app.log("info", `MCP: ${error.message}`),
  });
  const exchanges = new Exchanges(isOneClient);
  const stop = caller.skills.onChange?.(() => handler.notify.resourcesChanged());
  let isClosed = false;

  return {
    async answer(request, response, take) {
      // The handler refuses other types, with any body.
      const isJson = isJsonContentType(request.headers["content-type"] ?? null);
      const bytes = isJson ? await readJsonBody(request, { maxBytes, maxValues }) : Buffer.alloc(0);
      const parsed = isRefusal(bytes) ? undefined : parseIfJson(bytes.toString("utf8"));
      const refusal = isClosed ? nothingHere : isRefusal(bytes) ? bytes : bodyFault(bytes, parsed, maxBatch);
      const refused = refusal ?? (Array.isArray(parsed) ? take?.(Math.max(0, parsed.length - 1)) : undefined);
      if (refused !== undefined) {
        refuse(response, refused);
        return;
      }
      const { signal, leave, abort } = exchanges.enter(parsed);
      response.once("close", abort);
      try {
        const web = toWebRequest(request, signal);
        messages.set(web, parsed);
        const answered = await handler.fetch(web, parsed === undefined ? {} : { parsedBody: parsed });
        await writeResponse(response, answered);
      } finally {
        response.off("close", abort);
        leave();
      }
    },
    async close() {
      isClosed = true;
      stop?.();
      exchanges.abortAll();
      await handler.close();
    },
  };
}

/** Why a body is refused; undefined if it is not. */
function bodyFault(bytes: Buffer, parsed: unknown, maxBatch: number): HttpRefusal | undefined {
  if (parsed === undefined && bytes.length > 0)
    return { status: 400, code: "PARSE_ERROR", message: "The request body is not valid JSON." };
  if (!Array.isArray(parsed) || parsed.length <= maxBatch) return undefined;
  const message = `The batch has ${parsed.length} messages; the limit is ${maxBatch}. Send several batches.`;
  return { status: 400, code: "INVALID_REQUEST", message };
}

/** Converts a request, without its body, which is passed on parsed. */
function toWebRequest({ headers, url = "" }: IncomingMessage, signal: AbortSignal): Request {
  const web = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === "string") web.set(name, value);
  }
  return new Request(`http://${headers.host ?? ""}${url}`, { method: "POST", headers: web, signal });
}

/** Writes a web response. Resolves when all is written or the client has disconnected; never rejects. */
async function writeResponse(response: ServerResponse, { status, headers, body }: Response): Promise<void> {
  response.writeHead(status, Object.fromEntries(headers));
  if (body === null) response.end();
  // An error destroys the response: a partial one must not look complete.
  else await pipeline(Readable.fromWeb(body as ReadableStream), response).catch(() => undefined);
}

/**
 * The running requests of one session, so that they can be cancelled. Over HTTP before 2026-07-28, `notifications/cancelled` arrives in
 * another request than the one it cancels. The two are matched by id; an id that two running requests share cancels neither. If several
 * clients use the session, no request can cancel another one.
 */
export class Exchanges {
  readonly #isOneClient: boolean;
  readonly #running = new Map<AbortController, unknown>();

  constructor(isOneClient = true) {
    this.#isOneClient = isOneClient;
  }

  /** Adds a request, until `leave` is called. */
  enter(body: unknown): { readonly signal: AbortSignal; readonly leave: () => void; readonly abort: () => void } {
    const cancelled = this.#isOneClient ? cancelledId(body) : undefined;
    const meant = cancelled === undefined ? [] : [...this.#running].filter(([, id]) => id === cancelled);
    if (meant.length === 1) meant[0]?.[0].abort();
    const controller = new AbortController();
    this.#running.set(controller, isObject(body) && "method" in body ? body.id : undefined);
    return {
      signal: controller.signal,
      leave: () => void this.#running.delete(controller),
      abort: () => controller.abort(),
    };
  }

  /** Cancels all running requests. */
  abortAll(): void {
    for (const controller of this.#running.keys()) controller.abort();
    this.#running.clear();
  }
}

function cancelledId(body: unknown): unknown {
  return isObject(body) && body.method === "notifications/cancelled" && isObject(body.params)
    ? body.params.requestId
    : undefined;
}
