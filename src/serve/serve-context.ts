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

/** The context of all routes of the HTTP server. */
export interface ServeContext extends Published {
  readonly app: App;
  readonly config: ServeConfig;
  readonly session: SessionSkills;
  readonly anonymous: HttpCaller;
  /** The counter of large bodies, used before they are sent. */
  readonly unread: UnreadBytes;
  /** The URL with which links begin: `https://skills.example`, without a slash at its end. Never taken from a request. */
  readonly baseUrl: () => string;
  /** Whether only programs on this machine send requests: nothing else can connect, and there is no proxy. */
  readonly isLocal: boolean;
  /** Aborted when the server is asked to stop: streams end, and nothing new begins. */
  readonly draining: AbortSignal;
  /** Aborted when running requests and work are cancelled. */
  readonly stopped: AbortSignal;
  /** Registers work that outlives its request: a server that stops waits for it as for a request. The work must not reject. */
  readonly hold: (work: Promise<void>) => void;
  readonly metrics: Metrics;
  /** Registers a listener for the events of the runs of all callers; `listener` must not throw. */
  readonly onRun: (listener: (caller: string, event: RunEvent) => void) => void;
}

/** A route of the HTTP server. */
export interface HttpRoute {
  readonly method: "GET" | "POST" | "DELETE";
  /** The path; a segment that starts with a colon matches any one segment: `/skills/:slug`. */
  readonly path: string;
  /** Whether the route does not depend on the skills, so that it answers before they have been read. */
  readonly isIndependent?: boolean;
  /**
   * Answers an admitted request, or returns why it is refused. Checks access itself, by the caller and the resource that it found, never
   * by path. Rejects only if the client disconnected, or for an internal failure.
   */
  readonly answer: (exchange: HttpExchange) => RouteResult | Promise<RouteResult>;
}

/** Why a request is refused; undefined if it was answered. */
export type RouteResult = HttpRefusal | undefined;

/** The routes of one concern. */
export type CreateRoutes = (context: ServeContext) => readonly HttpRoute[];

/** The caller that sent a request. */
export interface HttpCaller {
  /** The name in the configuration; `anonymous` without credentials. */
  readonly name: string;
  readonly isAnonymous: boolean;
  /** The maximum size of one request, in bytes. */
  readonly requestBytes: number;
  /** The caller as the tools know it, with its owner, visible skills and tools. */
  readonly tools: McpCaller;
  /**
   * Whether the documents of discovery show the skill to the caller: without credentials all skills but private ones, else all that its
   * configuration permits.
   */
  readonly discovers: (published: PublishedSkill) => boolean;
  /** Whether the caller may invoke the skill: without credentials only public ones. */
  readonly invokes: (published: PublishedSkill) => boolean;
  /** The key of a cache: callers with the same view discover the same skills. */
  readonly view: string;
}

const noParams: ReadonlyMap<string, string> = new Map();

/** A request and its response. */
export class HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The caller; anonymous until the request was admitted. */
  caller: HttpCaller;
  /** The template of the request's path; undefined if no route has it. */
  route: string | undefined;
  /** The values of the segments that start with a colon in the route's path. */
  params = noParams;
  /** The limiter that counts the request. Undefined before it was admitted, and after `leave`. */
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

  /** Ends the counting of the request, when it has ended or has a limit of its own. Idempotent. */
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

/** The paths with errors of JSON-RPC; all others have the error object of Skill Sharing. */
const rpcPaths: readonly string[] = ["/rpc", "/mcp"];

/** Refuses a request with the error form of its path. */
export function refuseRequest(response: ServerResponse, path: string, refusal: HttpRefusal): void {
  if (rpcPaths.includes(path)) {
    refuse(response, refusal);
    return;
  }
  response.writeHead(refusal.status, { ...notStored, ...refusal.headers });
  response.end(toErrorBody(refusal));
}

/** Formats the error object of Skill Sharing. */
export function toErrorBody({ code, message, headers }: Omit<HttpRefusal, "status">): string {
  const after = headers?.["retry-after"];
  const retry = after === undefined ? {} : { retry: { after_seconds: Number(after) } };
  return JSON.stringify({ error: { code, message, ...retry } });
}
