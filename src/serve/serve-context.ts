import type { IncomingMessage, ServerResponse } from "node:http";
import type { App } from "../runtime/app.ts";
import type { RunEvent } from "../wire/run-event.ts";
import type { SessionSkills } from "../skills/skillset.ts";
import type { Limiter, UnreadBytes } from "./admission/limiter.ts";
import type { ServeConfig } from "./config.ts";
import type { Published } from "./publish.ts";
import type { PublishedSkill } from "./publish/publication.ts";
import type { Metrics } from "./telemetry/metrics.ts";
import type { McpCaller } from "../mcp/mcp-caller.ts";
import { type HttpRefusal, refuse } from "../wire/http.ts";

/** What the routes of the HTTP server work with. */
export interface ServeContext extends Published {
  readonly app: App;
  readonly config: ServeConfig;
  readonly session: SessionSkills;
  readonly anonymous: HttpCaller;
  /** Large bodies are counted here before they are sent. */
  readonly unread: UnreadBytes;
  /** Where links point: `https://skills.example`, without a slash at its end. Never taken from a request. */
  readonly baseUrl: () => string;
  /** Only programs on this machine send requests: nothing else can connect, and no proxy stands in front. */
  readonly isLocal: boolean;
  /** Aborted when the server is asked to stop: streams end, nothing new is begun. */
  readonly draining: AbortSignal;
  /** Aborted when what still runs is cancelled. */
  readonly stopped: AbortSignal;
  /** Registers work that outlives its request: a server that stops waits for it as for a request. It must not reject. */
  readonly hold: (work: Promise<void>) => void;
  readonly metrics: Metrics;
  /** Events of the runs of all callers; `listener` must not throw. */
  readonly onRun: (listener: (caller: string, event: RunEvent) => void) => void;
}

/** A route of the HTTP server. */
export interface HttpRoute {
  readonly method: "GET" | "POST" | "DELETE";
  /** A segment that starts with a colon stands for any one segment: `/skills/:slug`. */
  readonly path: string;
  /** It does not depend on which skills there are: it is answered before they have been read. */
  readonly isIndependent?: boolean;
  /**
   * Answers an admitted request, or returns why it is refused. Checks access itself, by the caller and the resource that it found, never by
   * path. Rejects only if the client disconnected, or for a fault of ours.
   */
  readonly answer: (exchange: HttpExchange) => RouteResult | Promise<RouteResult>;
}

/** Why a request is refused; undefined if it was answered. */
export type RouteResult = HttpRefusal | undefined;

/** The routes of one concern. */
export type CreateRoutes = (context: ServeContext) => readonly HttpRoute[];

/** Who sent a request. */
export interface HttpCaller {
  /** As in the configuration; `anonymous` without credentials. */
  readonly name: string;
  readonly isAnonymous: boolean;
  /** Most bytes of one request. */
  readonly requestBytes: number;
  /** For the tools: with its own owner, visible skills and tools. */
  readonly tools: McpCaller;
  /**
   * Whether the documents of discovery show it the skill: without credentials all but private ones; with credentials all that its
   * configuration lets it see.
   */
  readonly discovers: (published: PublishedSkill) => boolean;
  /** Whether it may invoke the skill: without credentials public ones only. */
  readonly invokes: (published: PublishedSkill) => boolean;
  /** Callers with the same view discover the same skills: a cache key. */
  readonly view: string;
}

const noParams: ReadonlyMap<string, string> = new Map();

/** A request and its response. */
export class HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Anonymous until the request was admitted. */
  caller: HttpCaller;
  /** The template of its path; undefined if no route has it. */
  route: string | undefined;
  /** What the colons of the route's path stand for. */
  params = noParams;
  /** Undefined until the request was admitted, and when it does not count as a request of its caller any more. */
  limiter: Limiter | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, anonymous: HttpCaller) {
    this.request = request;
    this.response = response;
    this.caller = anonymous;
  }

  param(name: string): string {
    return this.params.get(name) ?? "";
  }

  get query(): URLSearchParams {
    const { url = "" } = this.request;
    const start = url.indexOf("?");
    return new URLSearchParams(start < 0 ? "" : url.slice(start + 1));
  }

  /** Called when the request has ended, or has a limit of its own. Idempotent. */
  leave(): void {
    this.limiter?.leave();
    this.limiter = undefined;
  }

  send(status: number, body: string | Uint8Array, headers: Readonly<Record<string, string>>): RouteResult {
    this.response.writeHead(status, { ...headers, "content-length": String(Buffer.byteLength(body)) }).end(body);
    return undefined;
  }

  sendJson(status: number, body: object, headers: Readonly<Record<string, string>> = {}): RouteResult {
    return this.send(status, JSON.stringify(body), { ...notStored, ...headers });
  }
}

const notStored = { "content-type": "application/json", "cache-control": "no-store" };

/** Paths whose errors are those of JSON-RPC; all others have the error object of Skill Sharing. */
const rpcPaths: readonly string[] = ["/rpc", "/mcp"];

/** Refuses a request in the form that its path has. */
export function refuseRequest(response: ServerResponse, path: string, refusal: HttpRefusal): void {
  if (rpcPaths.includes(path)) {
    refuse(response, refusal);
    return;
  }
  response.writeHead(refusal.status, { ...notStored, ...refusal.headers });
  response.end(toErrorBody(refusal));
}

/** The error object of Skill Sharing. */
export function toErrorBody({ code, message, headers }: Omit<HttpRefusal, "status">): string {
  const after = headers?.["retry-after"];
  const retry = after === undefined ? {} : { retry: { after_seconds: Number(after) } };
  return JSON.stringify({ error: { code, message, ...retry } });
}
