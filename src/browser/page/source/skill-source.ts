import type { ReadonlySignal } from "@preact/signals";
import type { SkillDetail, SkillList } from "../../wire/skills.ts";
import type { SkillServer } from "./skill-server.ts";

/** Where the browser gets skills from: a server (http-source.ts) or a client's store (store-source.ts). */
export interface BrowserSkillSource {
  /** Absent until it was read for the first time; replaced whole at every change. */
  readonly list: ReadonlySignal<SkillList | undefined>;
  readonly connection: ReadonlySignal<ConnectionState>;
  /** What the source knows about one skill, undefined if there is none of that id. Rejects with a {@link SourceError}. */
  detail(id: string, signal?: AbortSignal): Promise<KnownDetail | undefined>;
  /** What only a server can do; absent for a store. Read-only servers have it, too; `about` says so. */
  readonly server?: SkillServer;
  /** The connections of a store that did not request skills. */
  readonly notAsked?: ReadonlySignal<readonly string[]>;
  /** Ends requests, events and timers. */
  close(): void;
}

/** `lost`: what is shown is the last that was heard, and the source keeps trying. `refused`: only a new address of the page helps. */
export type ConnectionState =
  { readonly status: "connecting" | "live" | "refused" } | { readonly status: "lost"; readonly attempts: number };

/** What is absent is not known to the source, and not shown. */
export type KnownDetail = Pick<SkillDetail, "row"> & Partial<SkillDetail>;
