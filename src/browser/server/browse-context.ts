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

/** What the routes of the skill browser work with. */
export interface BrowseDoor extends BrowseSettings {
  readonly app: App;
  readonly session: SessionSkills;
  /** The list of skills. */
  readonly skills: ShownSkills;
  readonly events: LiveEvents;
  readonly nonces: Nonces;
  /** Notifies pages when the files of a skill that they read change. */
  readonly touched: TouchedSkills;
  /** This machine, inspected at most a minute ago. */
  readonly machine: () => Machine;
  /** Nobody has to be asked about this one run: what the person allowed for its next one. */
  readonly once: AllowedNext;
  /** Aborted when the server stops: what still runs is to be cancelled. */
  readonly stopped: AbortSignal;
  /** Work that the server waits for when it stops, until `stopped`. It must not reject. */
  readonly hold: (work: Promise<void>) => void;
}

/** Routes of one concern. */
export type MountBrowse = (door: BrowseDoor) => BrowseRoutes;

/**
 * What is answered for those who have the cookie, by method and path. A segment that starts with a colon stands for any one segment,
 * percent-decoded: `GET /api/skills/:id`. Methods other than GET are refused with `--read-only`. Errors that are no SkillsError are answered
 * with 500 and an id that is in the log.
 */
export type BrowseRoutes = Readonly<Record<`${BrowseMethod} /api/${string}`, AnswerBrowse>>;

type BrowseMethod = "GET" | "POST" | "DELETE";
type AnswerBrowse = (request: BrowseRequest) => BrowseAnswer | Promise<BrowseAnswer>;

export interface BrowseRequest {
  /** What the segments with a colon stand for. Throws for a name that the path does not have. */
  readonly param: (name: string) => string;
  readonly query: URLSearchParams;
  readonly incoming: IncomingMessage;
  /** The body, at most 64 KiB of JSON unless `limits` say otherwise. Throws VALIDATION_ERROR, BLOB_TOO_LARGE. */
  readonly json: <Value>(schema: z.ZodType<Value>, limits?: Parameters<typeof readJsonBody>[1]) => Promise<Value>;
  /** The body as it is. Throws BLOB_TOO_LARGE. */
  readonly bytes: (most: number) => Promise<Uint8Array>;
  /** Aborted when the page goes away before it is answered, and when the server stops. */
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
  /** Answered with 304 where the page has it. */
  | { readonly cached: CachedResponse }
  /** A download, never shown by the browser itself. */
  | { readonly download: Uint8Array; readonly name: string }
  /** The headers of every answer are set. */
  | { readonly stream: (response: ServerResponse) => void };
