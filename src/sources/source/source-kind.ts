import type { Clock } from "../../base/clock.ts";
import type { AddressOptions } from "../fetch/address-rules.ts";
import type { Fetcher } from "../fetch.ts";
import type { RemoteContent, RemoteIndex, SeenBefore, SkillFile } from "../reader.ts";
import type { Source } from "../source.ts";

/** The content that a source with a scheme of its own lists: its driver can read the bytes again by these texts alone. */
export type PinnedContent = Extract<RemoteContent, { type: "pinned" }>;

/**
 * One kind of source, whose texts begin with a scheme of its own. All its code is in its folder; `open` loads the code that reads a
 * source.
 */
export interface SourceKind {
  /** The scheme without its colon, in lower case. */
  readonly scheme: string;
  /**
   * Parses a text that begins with the scheme. The label of the source is such a text too, but without secrets: a mark replaces them.
   * Throws INVALID_OPTIONS.
   */
  parse(text: string): Source;
  /** Returns the source as it was when a skill was locked with this pin. */
  at(source: Source, pin: string): Source;
  /** Opens a driver. Connects to nothing before the first read. */
  open(options: SourceDriverOptions): Promise<SourceDriver>;
  /** Publishes skills to a source, one after the other; undefined for read-only kinds. Throws the errors of `SourceReader`. */
  readonly publish?: (
    source: Source,
    skills: readonly PublishableSkill[],
    options: PublishOptions,
  ) => Promise<readonly PublishReceipt[]>;
}

/** A skill of this machine that is to be published. */
export interface PublishableSkill {
  readonly slug: string;
  readonly version: string;
  readonly description: string;
  readonly allowedTools: readonly string[];
  readonly files: readonly SkillFile[];
  /** The Sigstore bundle, which is none of the files. */
  readonly signature: Uint8Array | undefined;
}

export interface PublishOptions extends SourceDriverOptions {
  readonly signal: AbortSignal;
  /** Whether other content may replace a version that is published. */
  readonly replaces: boolean;
}

/** A published skill: the source by which `add` finds it, and the pin with which it is locked. */
export interface PublishReceipt {
  readonly slug: string;
  readonly source: Source;
  readonly pin: string;
  /** Whether the skill was there already, with this signature. */
  readonly isUnchanged: boolean;
  readonly isSigned: boolean;
  /** Remarks for the user, as sentences. */
  readonly notes: readonly string[];
}

/** A reader of sources of one kind. Throws the errors of `SourceReader`. */
export interface SourceDriver {
  /** Reads the skills that a source offers now, each with `pinned` content; "unchanged" if they would be the same as before. */
  readIndex(source: Source, options: SeenBefore & { readonly signal: AbortSignal }): Promise<RemoteIndex | "unchanged">;
  /** Reads the files of a skill that the driver listed, now or earlier. */
  readFiles(content: PinnedContent, signal: AbortSignal): Promise<readonly SkillFile[]>;
  /** Ends connections and programs. Idempotent. */
  close(): Promise<void>;
}

/** The means by which drivers connect: the same rules hold for all of them. */
export interface SourceDriverOptions extends AddressOptions {
  readonly fetcher: Fetcher;
  readonly clock?: Clock;
  /** The directory of the project, for packages that are installed there. Default: the current one. */
  readonly project?: string | undefined;
}
