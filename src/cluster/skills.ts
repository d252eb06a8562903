import type { Skill } from "../skills/skill.ts";

export { digestBytes } from "./skills/pack-list.ts";
export { openSkillPacks } from "./skills/open-skill-packs.ts";

/** The files of versions of skills by their digest, in the database and on this machine. */
export interface SkillPacks {
  /**
   * Stores the files of a version under its digest, unless they are there. Throws SKILL_NOT_READY where its directory has other files
   * now, FILE_TOO_LARGE and SOURCE_INVALID for what cannot be stored; rejects where the database does not answer.
   */
  store(skill: Pick<Skill, "directory" | "name">, digest: string, signal: AbortSignal): Promise<void>;
  /**
   * The directory on this machine with exactly the files of the digest, downloaded if necessary, and the signature that was stored with them.
   * It stays for an hour at least. Throws SKILL_NOT_READY where nobody has stored them, SOURCE_INVALID where what is stored is something
   * else; rejects where the database does not answer and it is not here. `isPublished`:
   * one of so many that this process does not remember whether they were verified.
   */
  ensure(
    digest: string,
    slug: string,
    signal: AbortSignal,
    options?: { readonly isPublished?: boolean },
  ): Promise<string>;
  /** Keeps a directory that `ensure` returned for another hour. */
  keep(directory: string): void;
  /** Stops sweeping. Idempotent; never rejects. */
  close(): Promise<void>;
}
