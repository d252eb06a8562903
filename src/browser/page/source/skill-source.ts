import type { ReadonlySignal } from "@preact/signals";
import type { RunNews } from "../../wire/runs.ts";
import type { SkillDetail, SkillList, DetailSection, SkillTouched } from "../../wire/skills.ts";
import type { SkillServer } from "./http-source.ts";

/** The source from which the browser gets skills: a server (http-source.ts) or a client's store (store-source.ts). */
export interface BrowserSkillSource {
  /** The list; undefined until it was first read. A new object replaces it at every change. */
  readonly list: ReadonlySignal<SkillList | undefined>;
  readonly connection: ReadonlySignal<ConnectionState>;
  /** Reads one skill with the sections that the source has; undefined if no skill has that id. Rejects with a {@link SourceError}. */
  detail(id: string, sections: readonly DetailSection[], signal?: AbortSignal): Promise<KnownDetail | undefined>;
  /** The requests that only a server answers; absent for a store. A read-only server has them, too; its `about` says so. */
  readonly server?: SkillServer;
  /** The connections of a store that did not request skills. */
  readonly notAsked?: ReadonlySignal<readonly string[]>;
  /** Ends requests, events and timers. */
  close(): void;
}

/** `lost`: the page shows the last state received, and the source tries again. `refused`: only a new URL of the page helps. */
export type ConnectionState = "connecting" | "live" | "refused" | "lost";

/** The detail of a skill as far as the source knows it. Absent fields are not shown. */
export type KnownDetail = Pick<SkillDetail, "row"> & Partial<SkillDetail>;

/** The events of a server by kind. `reconnected`: events may have been missed, so shown data must be read again. */
export interface ServerEvents {
  readonly run: RunNews;
  /** A skill that the page has read has changed files. */
  readonly skill: SkillTouched;
  readonly sessions: undefined;
  /** Anything in the list changed. */
  readonly skills: undefined;
  readonly reconnected: undefined;
}

/** The error of a failed request. `code` is a code of `BrowseError` or `UNREACHABLE`; `message` can be shown to the user. */
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

/** Makes a SourceError of any error. */
export function toSourceError(error: unknown): SourceError {
  return error instanceof SourceError ? error : new SourceError("INTERNAL", String(error));
}
