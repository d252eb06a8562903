import type { RemoteIndex, RemoteSkill } from "./remote-skill.ts";
import type { SkillFile } from "./skill-bytes.ts";
import type { Source } from "./source.ts";

/** What a source was when it was read last. */
export interface SeenBefore {
  readonly etags?: Readonly<Record<string, string>>;
  readonly commit?: string;
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
