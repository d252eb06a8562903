import type { IncomingMessage, ServerResponse } from "node:http";
import type * as z from "zod";
import type { App } from "../../runtime/app.ts";
import type { readJsonBody } from "../../wire/http.ts";
import type { SkillsErrorCode } from "../../base/errors.ts";
import type { SessionSkills } from "../../skills/skillset.ts";
import type { CachedResponse } from "../../serve/cached-response.ts";
import type { AllowedNext } from "./decide.ts";
import type { Nonces } from "./admission/nonces.ts";
import type { TouchedSkills } from "./live/touched-skills.ts";
import type { LiveEvents } from "./live/live-events.ts";
import type { ShownSkills } from "./rows/shown-skills.ts";
import type { BrowseSettings } from "../server.ts";
import type { Machine } from "../../skills/environment.ts";

/** The context of the routes of the skill browser. */
export interface BrowseContext extends BrowseSettings {
  readonly app: App;
  readonly session: SessionSkills;
  /** The skills as the page lists them. */
  readonly skills: ShownSkills;
  readonly events: LiveEvents;
  readonly nonces: Nonces;
  /** Watches the skills that pages have read, and notifies the pages when files change. */
  readonly touched: TouchedSkills;
  /** Returns the facts about this machine, at most 60 seconds old. */
  readonly machine: () => Machine;
  /** The skills whose next run the user allowed: nobody is asked about that run. */
  readonly once: AllowedNext;
  /** Aborted when the server stops; all work that still runs must be cancelled then. */
  readonly stopped: AbortSignal;
  /** Adds work that the server waits for when it stops, until `stopped` is aborted. The work must not reject. */
  readonly hold: (work: Promise<void>) => void;
}

/** The directories from which the page shows paths. */
export type DisplayRoots = Pick<BrowseContext, "directory" | "home">;

/** Routes of one concern. */
export type MountBrowse = (context: BrowseContext) => BrowseRoutes;

/**
 * The routes for browsers that have the cookie, by method and path. A segment that starts with a colon stands for any one segment,
 * percent-decoded: `GET /api/skills/:id`. With `--read-only`, methods other than GET are refused. An error that is no SkillsError is
 * answered with 500 and an id that is in the log.
 */
export type BrowseRoutes = Readonly<Record<`${BrowseMethod} /api/${string}`, AnswerBrowse>>;

type BrowseMethod = "GET" | "POST" | "DELETE";
type AnswerBrowse = (request: BrowseRequest) => BrowseAnswer | Promise<BrowseAnswer>;

export interface BrowseRequest {
  /** Returns the segment of the path at `:name`. Throws for a name that the route does not have. */
  readonly param: (name: string) => string;
  readonly query: URLSearchParams;
  readonly incoming: IncomingMessage;
  /** Reads the body, at most 64 KiB of JSON unless `limits` say otherwise. Rejects with VALIDATION_ERROR or BLOB_TOO_LARGE. */
  readonly json: <Value>(schema: z.ZodType<Value>, limits?: Parameters<typeof readJsonBody>[1]) => Promise<Value>;
  /** Reads the body as it is. Rejects with BLOB_TOO_LARGE above `maxBytes` bytes. */
  readonly bytes: (maxBytes: number) => Promise<Uint8Array>;
  /** Aborted when the page disconnects before the answer is sent, and when the server stops. */
  readonly signal: AbortSignal;
}

/** Why a request is refused. */
export interface BrowseRefusal {
  readonly status: number;
  readonly code: SkillsErrorCode | "STALE";
  readonly message: string;
  readonly hint?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export type BrowseAnswer =
  | { readonly json: unknown; readonly status?: 200 | 202; readonly headers?: Readonly<Record<string, string>> }
  | { readonly refused: BrowseRefusal }
  /** Answered with 304 if the page has the same ETag. */
  | { readonly cached: CachedResponse }
  /** A download, never shown by the browser itself. */
  | { readonly download: Uint8Array; readonly name: string }
  /** A response on which the headers of every answer are already set. */
  | { readonly stream: (response: ServerResponse) => void };
