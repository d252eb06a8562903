import type { ReadonlySignal } from "@preact/signals";
import type { RunNews } from "../../wire/runs.ts";
import type { SkillDetail, SkillList, SkillPart, SkillTouched } from "../../wire/skills.ts";
import type { SkillServer } from "./http-source.ts";

/** Where the browser gets skills from: a server (http-source.ts) or a client's store (store-source.ts). */
export interface BrowserSkillSource {
  /** Absent until it was read for the first time; replaced whole at every change. */
  readonly list: ReadonlySignal<SkillList | undefined>;
  readonly connection: ReadonlySignal<ConnectionState>;
  /** What the source knows about one skill, with the parts that it can read of it; undefined if there is none of that id. Rejects with a {@link SourceError}. */
  detail(id: string, parts: readonly SkillPart[], signal?: AbortSignal): Promise<KnownDetail | undefined>;
  /** What only a server can do; absent for a store. Read-only servers have it, too; `about` says so. */
  readonly server?: SkillServer;
  /** The connections of a store that did not request skills. */
  readonly notAsked?: ReadonlySignal<readonly string[]>;
  /** Ends requests, events and timers. */
  close(): void;
}

/** `lost`: what is shown is the last that was heard, and the source keeps trying. `refused`: only a new address of the page helps. */
export type ConnectionState = "connecting" | "live" | "refused" | "lost";

/** What is absent is not known to the source, and not shown. */
export type KnownDetail = Pick<SkillDetail, "row"> & Partial<SkillDetail>;

/** `reconnected`: events may have been missed; read again what is shown. */
export interface ServerEvents {
  readonly run: RunNews;
  /** Files of a skill that was read changed. */
  readonly skill: SkillTouched;
  readonly sessions: undefined;
  /** The list changed, whatever of it. */
  readonly skills: undefined;
  readonly reconnected: undefined;
}

/** Why a request was not answered with success. `code` is one of `BrowseError`, or `UNREACHABLE`; `message` can be shown to people. */
export class SourceError extends Error {
  override readonly name = "SourceError";
  readonly code: string;
  readonly hint: string | undefined;

  constructor(code: string, message: string, hint?: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** The error of a request, whatever it is. */
export function toSourceError(error: unknown): SourceError {
  return error instanceof SourceError ? error : new SourceError("INTERNAL", String(error));
}
