import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import type { Context, Hono } from "hono";
import type { App } from "../runtime/app.ts";
import type { RunEvent } from "../runtime/run-event.ts";
import type { SessionSkills } from "../skills/skillset.ts";
import type { Artifacts } from "./agent-skills/artifacts.ts";
import type { UnreadBytes } from "./admission/limiter.ts";
import type { ServeConfig } from "./config/serve-config.ts";
import type { HttpCaller } from "./http-caller.ts";
import type { Shares } from "./publish/audience.ts";
import type { Publication } from "./publish/publication.ts";
import type { Listings } from "./sharing/listing.ts";
import type { Metrics } from "./telemetry/metrics.ts";

/** What the routes serve. */
export interface HttpDoor {
  readonly app: App;
  readonly config: ServeConfig;
  readonly session: SessionSkills;
  readonly anonymous: HttpCaller;
  /** What is published now. */
  readonly publication: () => Publication;
  /** What can be downloaded of the published skills. */
  readonly artifacts: Artifacts;
  readonly shares: Shares;
  /** Told of large bodies before they are sent. */
  readonly unread: UnreadBytes;
  /** The indexes of Skill Sharing. */
  readonly listings: Listings;
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
) => Promise<void>;
