import type { Source } from "./source.ts";
import type { AccessPolicy, CapabilityType, SkillDescriptor } from "../wire/skill-sharing.ts";

export { type SourceDenial, openSourceReader } from "./reader/open-source-reader.ts";

/** What a source was when it was read last. */
export interface SeenBefore {
  readonly etags?: Readonly<Record<string, string>> | undefined;
  readonly commit?: string | undefined;
}

/** The way to what sources offer. Throws SkillsErrors; those of a source that answered 429 or 503 may have `retryAfterSeconds`. */
export interface SourceReader {
  /** What a source offers now, each skill with content that can be downloaded; undefined: the same as before. */
  read(source: Source, before: SeenBefore | undefined, signal: AbortSignal): Promise<RemoteIndex | undefined>;
  /** The files of a skill that it offers. */
  skillFiles(skill: RemoteSkill, signal: AbortSignal): Promise<readonly SkillFile[]>;
  /** Ends connections and removes temporary files. Idempotent. */
  close(): Promise<void>;
}

/** A reader that also lists what sources offer without reading a descriptor of each skill. */
export interface SourceLister extends SourceReader {
  list(source: Source, signal: AbortSignal): Promise<RemoteIndex>;
  readDescriptors(skills: readonly RemoteSkill[], signal: AbortSignal): Promise<ReadDescriptors>;
}

/** Skills with contents of other types than `descriptor`, as far as those could be read. */
export interface ReadDescriptors {
  /** In the same order, with the same names. */
  readonly skills: readonly RemoteSkill[];
  /** Sentences without a full stop. */
  readonly problems: readonly string[];
  /** A descriptor could not be read now; its skill still has the type `descriptor`. */
  readonly isPartial?: true;
}

/** One file of a skill from elsewhere. `path` is relative with `/`, and passed the rules of `archive/check-path.ts`. */
export interface SkillFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly executable: boolean;
}

/** How the bytes of a skill are had. `digest` is `sha256:` and 64 hexadecimal digits of exactly the bytes at `url`; URLs are absolute. */
export type RemoteContent =
  | { readonly type: "skill-md"; readonly url: string; readonly digest?: string }
  /** `directory`: in the archive; default its root, or the one directory that it has. */
  | { readonly type: "archive"; readonly url: string; readonly digest?: string; readonly directory?: string }
  | {
      readonly type: "files";
      readonly files: readonly { readonly path: string; readonly url: string; readonly digest?: string }[];
    }
  /** A directory of a repository at a full commit id. */
  | { readonly type: "git"; readonly repository: string; readonly commit: string; readonly directory: string }
  /** A version that never changes of a source with a scheme of its own: `pin` is in the lock, `place` says where in the source. */
  | { readonly type: "pinned"; readonly source: string; readonly pin: string; readonly place: string }
  /** Not downloaded but invoked, over HTTP. */
  | { readonly type: "api"; readonly descriptor: SkillDescriptor }
  /** Its descriptor has yet to be read. */
  | { readonly type: "descriptor"; readonly url: string }
  /** Listed, but of no use to us; `why` is a sentence. */
  | { readonly type: "unusable"; readonly why: string };

/** A skill that a source offers. All texts are untrusted. */
export interface RemoteSkill {
  /** As its index names it, and as it is asked for in `add SOURCE NAME`; unique in an index. */
  readonly name: string;
  readonly description: string;
  readonly version?: string;
  /** The publisher's id, such as `com.example.translate-v1`. */
  readonly id?: string;
  /** As Skill Sharing has it; undefined for skills that are only files. */
  readonly capabilityType?: CapabilityType;
  readonly access?: AccessPolicy;
  /** Milliseconds since 1970, as a registry says it; never what the publisher wrote. */
  readonly publishedAt?: number;
  readonly content: RemoteContent;
}

/** The forms in which sources list skills. */
export type IndexForm =
  | "skill-sharing"
  | "descriptor"
  | "registry"
  | "agent-skills-0.1"
  | "agent-skills-0.2"
  | "marketplace"
  | "git"
  | "scheme";

/** What a source offers at one moment. */
export interface RemoteIndex {
  readonly source: Source;
  readonly form: IndexForm;
  /** Sorted by name, by code point. */
  readonly skills: readonly RemoteSkill[];
  /** One sentence for each entry or document that could not be used. */
  readonly problems: readonly string[];
  /** Something that may list more could not be read now: what it listed before is still there. */
  readonly isPartial?: true;
  /** For a git source: the commit that was read. */
  readonly commit?: string;
  /** For `If-None-Match` at the next look, by URL; of a git source, commits of other repositories that it leads to. */
  readonly etags?: Readonly<Record<string, string>>;
}
