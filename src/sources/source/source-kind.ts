import type { Clock } from "../../base/clock.ts";
import type { AddressOptions } from "../fetch/address-rules.ts";
import type { Fetcher } from "../fetch.ts";
import type { RemoteContent, RemoteIndex, SeenBefore, SkillFile } from "../reader.ts";
import type { Source } from "../source.ts";

/** What a source with a scheme of its own lists: bytes that its driver reads again by these texts alone. */
export type PinnedContent = Extract<RemoteContent, { type: "pinned" }>;

/**
 * One kind of source whose texts begin with a scheme of its own. Everything about it is in its folder, and what it loads to read a source
 * is loaded by `open`.
 */
export interface SourceKind {
  /** Without the colon, in lower case. */
  readonly scheme: string;
  /**
   * The source that a text names, which begins with the scheme. Its label names it again, without secrets (`redactionMark` stands for those).
   * Throws `invalidSource`.
   */
  parse(text: string): Source;
  /** The source as it was when a skill was locked with this pin. */
  at(source: Source, pin: string): Source;
  /** Connects to nothing before the first reading. */
  open(options: SourceDriverOptions): Promise<SourceDriver>;
  /** Writes skills there, one after the other; undefined for sources that are only read. Throws as `SourceReader` does. */
  readonly publish?: (
    source: Source,
    skills: readonly PublishableSkill[],
    options: PublishOptions,
  ) => Promise<readonly PublishReceipt[]>;
}

/** A skill of this machine that others are to have. */
export interface PublishableSkill {
  readonly slug: string;
  readonly version: string;
  readonly description: string;
  readonly allowedTools: readonly string[];
  readonly files: readonly SkillFile[];
  /** Its Sigstore bundle, which is none of the files. */
  readonly signature: Uint8Array | undefined;
}

export interface PublishOptions extends SourceDriverOptions {
  readonly signal: AbortSignal;
  /** Whether other content may take the place of a version that is published. */
  readonly replaces: boolean;
}

/** What was published: where `add` finds it, and as what it is locked there. */
export interface PublishReceipt {
  readonly slug: string;
  readonly source: Source;
  readonly pin: string;
  /** Whether it was there already, with this signature. */
  readonly isUnchanged: boolean;
  readonly isSigned: boolean;
  /** Sentences. */
  readonly notes: readonly string[];
}

/** The way to sources of one kind. Throws as `SourceReader` does. */
export interface SourceDriver {
  /** What is offered now, each skill with `pinned` content; "unchanged" if it would be the same as before. */
  readIndex(source: Source, options: SeenBefore & { readonly signal: AbortSignal }): Promise<RemoteIndex | "unchanged">;
  /** The files of a skill that it listed, now or earlier. */
  readFiles(content: PinnedContent, signal: AbortSignal): Promise<readonly SkillFile[]>;
  /** Ends connections and programs. Idempotent. */
  close(): Promise<void>;
}

/** What drivers connect with: the same rules hold for all of them. */
export interface SourceDriverOptions extends AddressOptions {
  readonly fetcher: Fetcher;
  readonly clock?: Clock;
  /** The directory of the project, for what is installed there. Default: the current one. */
  readonly project?: string | undefined;
}
