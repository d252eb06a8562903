import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import type { Context, Hono } from "hono";
import type { App } from "../runtime/app.ts";
import type { RunEvent } from "../wire/run-event.ts";
import type { SessionSkills } from "../skills/skillset.ts";
import type { Limiter, UnreadBytes } from "./admission/limiter.ts";
import type { ServeConfig } from "./config.ts";
import type { Published } from "./publish.ts";
import type { PublishedSkill } from "./publish/publication.ts";
import type { Metrics } from "./telemetry/metrics.ts";
import type { McpCaller } from "../mcp/mcp-caller.ts";
import { type HttpRefusal, refuse } from "../wire/http/refusal.ts";

/** What the routes serve. */
export interface HttpDoor extends Published {
  readonly app: App;
  readonly config: ServeConfig;
  readonly session: SessionSkills;
  readonly anonymous: HttpCaller;
  /** Told of large bodies before they are sent. */
  readonly unread: UnreadBytes;
  /** Where links point: `https://skills.example`, without a slash at its end. Never taken from a request. */
  readonly baseUrl: () => string;
  /** Only programs on this machine send requests: nothing else can connect, and no proxy stands in front. */
  readonly isLocal: boolean;
  /** Aborted when the server has been told to stop: streams end, nothing new is begun. */
  readonly draining: AbortSignal;
  /** Aborted when what still runs is cancelled. */
  readonly stopped: AbortSignal;
  /** Told of work that outlives its request, which a server that stops waits for as for a request. It never rejects. */
  readonly hold: (work: Promise<void>) => void;
  readonly metrics: Metrics;
  /** Events of the runs of all callers; `listener` must not throw. */
  readonly onRun: (listener: (caller: string, event: RunEvent) => void) => void;
}

export interface HttpEnv {
  Bindings: HttpBindings & {
    readonly caller: HttpCaller;
    /** From now on it does not count as a request of its caller: it has a limit of its own. */
    readonly leaveRequests: () => void;
  };
}

export type HttpContext = Context<HttpEnv>;

/**
 * Adds the routes of one concern. Handlers authorise in themselves, by `c.env.caller` and the resource that they found, never by path;
 * answer with `c.body(text or buffer, status, plain headers)`; read bodies with `readBody(c.env.incoming)`; and never call what makes a
 * native Request or Response (`c.req.raw.body`, headers after `next()`), which costs ten times as much as the rest.
 */
export type MountRoutes = (routes: Hono<HttpEnv>, door: HttpDoor) => void;

/** Answers an admitted request. Rejects only if the client disconnected, or for a fault of ours. */
export type HttpRequestListener = (
  request: IncomingMessage,
  response: ServerResponse,
  caller: HttpCaller,
  /** Counts further calls of the request; see `Limiter`. */
  take: Limiter["take"],
) => Promise<void>;

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
   * Whether the documents of discovery show it the skill (seed, 5.5): without credentials all but private ones; with credentials all that
   * its configuration lets it see.
   */
  readonly discovers: (published: PublishedSkill) => boolean;
  /** Whether it may invoke the skill: without credentials public ones only. */
  readonly invokes: (published: PublishedSkill) => boolean;
  /** Callers with the same view discover the same skills: a key for what is kept ready for them. */
  readonly view: string;
}

/** Paths whose errors are those of JSON-RPC (CONTRACT C-2.2); all others have the error object of C-6.4. */
const rpcPaths: readonly string[] = ["/rpc", "/mcp"];

/** Refuses a request in the form that its path has. */
export function refuseRequest(response: ServerResponse, path: string, refusal: HttpRefusal): void {
  if (rpcPaths.includes(path)) {
    refuse(response, refusal);
    return;
  }
  response.writeHead(refusal.status, headersOf(refusal));
  response.end(toErrorBody(refusal));
}

/** The same as the answer of a handler, with the error object of C-6.4. */
export function toRefusalResponse(context: HttpContext, refusal: HttpRefusal): Response {
  return context.body(toErrorBody(refusal), refusal.status, headersOf(refusal));
}

function headersOf({ headers = {} }: HttpRefusal): Record<string, string> {
  return { "content-type": "application/json", "cache-control": "no-store", ...headers };
}

/** The error object of Skill Sharing (C-6.4). */
export function toErrorBody({ code, message, headers }: Pick<HttpRefusal, "code" | "message" | "headers">): string {
  const after = headers?.["retry-after"];
  const retry = after === undefined ? {} : { retry: { after_seconds: Number(after) } };
  return JSON.stringify({ error: { code, message, ...retry } });
}
