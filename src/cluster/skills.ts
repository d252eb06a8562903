import type { Skill } from "../skills/skill.ts";

/** The bytes of skills by their digest. */
export interface SkillPacks {
  store(skill: Pick<Skill, "directory" | "name">, digest: string, signal: AbortSignal): Promise<void>;
  ensure(digest: string, slug: string, signal: AbortSignal): Promise<string>;
}

const known = new Map<string, string>();

/** Those of this process only. */
export function openSkillPacks(): SkillPacks {
  return {
    store({ directory }, digest) {
      known.set(digest, directory);
      return Promise.resolve();
    },
    ensure: (digest) => Promise.resolve(known.get(digest) ?? ""),
  };
}
