import type { Source } from "./source.ts";
import type { AccessPolicy, CapabilityType, SkillDescriptor } from "../wire/skill-sharing.ts";

export { type SourceDenial, openSourceReader } from "./reader/open-source-reader.ts";

/** The state of a source when it was last read. */
export interface SeenBefore {
  readonly etags?: Readonly<Record<string, string>> | undefined;
  readonly commit?: string | undefined;
}

/** A reader of the skills that sources offer. Throws SkillsErrors; after status 429 or 503 they may have `retryAfterSeconds`. */
export interface SourceReader {
  /** Reads the skills that a source offers now, each with content that can be downloaded; undefined if they are the same as before. */
  read(source: Source, before: SeenBefore | undefined, signal: AbortSignal): Promise<RemoteIndex | undefined>;
  /** Reads the files of an offered skill. */
  skillFiles(skill: RemoteSkill, signal: AbortSignal): Promise<readonly SkillFile[]>;
  /** Ends connections and removes temporary files. Idempotent. */
  close(): Promise<void>;
}

/** A reader that also lists the skills of sources without reading a descriptor of each. */
export interface SourceLister extends SourceReader {
  list(source: Source, signal: AbortSignal): Promise<RemoteIndex>;
  readDescriptors(skills: readonly RemoteSkill[], signal: AbortSignal): Promise<ReadDescriptors>;
}

/** Skills whose descriptors were read, as far as that was possible. */
export interface ReadDescriptors {
  /** The skills in the same order, with the same names. */
  readonly skills: readonly RemoteSkill[];
  /** The problems, as sentences without a full stop. */
  readonly problems: readonly string[];
  /** Set if a descriptor could not be read now; its skill still has the type `descriptor`. */
  readonly isPartial?: true;
}

/** One file of a remote skill. `path` is relative with `/`, and conforms to the rules of `archive/check-path.ts`. */
export interface SkillFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly executable: boolean;
}

/** The content of a remote skill. `digest` is `sha256:` and 64 hexadecimal digits of exactly the bytes at `url`; URLs are absolute. */
export type RemoteContent =
  | { readonly type: "skill-md"; readonly url: string; readonly digest?: string }
  /** `directory`: a path in the archive; default: its root, or its only directory. */
  | { readonly type: "archive"; readonly url: string; readonly digest?: string; readonly directory?: string }
  | {
      readonly type: "files";
      readonly files: readonly { readonly path: string; readonly url: string; readonly digest?: string }[];
    }
  /** A directory of a repository at a full commit id. */
  | { readonly type: "git"; readonly repository: string; readonly commit: string; readonly directory: string }
  /** An immutable version in a source with a scheme of its own: `pin` is in the lock, `place` identifies the skill in the source. */
  | { readonly type: "pinned"; readonly source: string; readonly pin: string; readonly place: string }
  /** A skill that is invoked over HTTP, not downloaded. */
  | { readonly type: "api"; readonly descriptor: SkillDescriptor }
  /** A skill whose descriptor has yet to be read. */
  | { readonly type: "descriptor"; readonly url: string }
  /** A listed skill that acp-skills cannot use; `why` is a sentence. */
  | { readonly type: "unusable"; readonly why: string };

/** A skill that a source offers. All texts are untrusted. */
export interface RemoteSkill {
  /** The name in the index, which `add SOURCE NAME` takes; unique in an index. */
  readonly name: string;
  readonly description: string;
  readonly version?: string;
  /** The publisher's id, such as `com.example.translate-v1`. */
  readonly id?: string;
  /** The capability type of Skill Sharing; undefined for skills that are only files. */
  readonly capabilityType?: CapabilityType;
  readonly access?: AccessPolicy;
  /** The time of publication as a registry reports it, never as the publisher writes it; in milliseconds since 1970. */
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

/** The skills that a source offers at one moment. */
export interface RemoteIndex {
  readonly source: Source;
  readonly form: IndexForm;
  /** The skills, sorted by name in the order of code points. */
  readonly skills: readonly RemoteSkill[];
  /** One sentence for each entry or document that could not be used. */
  readonly problems: readonly string[];
  /** Set if a document that may list more skills could not be read now: the skills that it listed before are still there. */
  readonly isPartial?: true;
  /** For a git source: the commit that was read. */
  readonly commit?: string;
  /** The values for `If-None-Match` at the next read, by URL; for a git source, the commits of other repositories to which it leads. */
  readonly etags?: Readonly<Record<string, string>>;
}
