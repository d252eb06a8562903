import type { Skill } from "../skills/skill.ts";

export { digestBytes } from "./skills/pack-list.ts";
export { openSkillPacks } from "./skills/open-skill-packs.ts";

/** The files of skill versions by their digest, in the database and on this machine. */
export interface SkillPacks {
  /**
   * Stores the files of a version under its digest, unless they are stored. Throws SKILL_NOT_READY if its directory has other files now,
   * FILE_TOO_LARGE or SOURCE_INVALID for files that cannot be stored. Rejects if the database does not answer.
   */
  store(skill: Pick<Skill, "directory" | "name">, digest: string, signal: AbortSignal): Promise<void>;
  /**
   * Returns the directory on this machine with exactly the files of the digest, and the signature stored with them; downloads them if
   * necessary. The directory stays for at least an hour. Throws SKILL_NOT_READY if the files are not stored, SOURCE_INVALID if other files
   * are. Rejects if the database is needed and does not answer. `isPublished`: one of so many that this process does not remember which
   * are verified.
   */
  ensure(
    digest: string,
    slug: string,
    signal: AbortSignal,
    options?: { readonly isPublished?: boolean },
  ): Promise<string>;
  /** Retains a directory that `ensure` returned for another hour. */
  keep(directory: string): void;
  /** Stops sweeping. Idempotent; never rejects. */
  close(): Promise<void>;
}
