import { toSkillFiles } from "./to-skill-files.ts";
import type { RemoteSkill } from "../reader.ts";

/** What can be done with a skill of others. */
export type UseOfSkill =
  | { readonly use: "install" | "invoke" }
  /** `why` is a clause for people. */
  | { readonly use: "cannot" | "unknown"; readonly why: string };

/** What we would do with a skill, as far as its index and descriptor say. */
export function useOfSkill({ name, content }: RemoteSkill): UseOfSkill {
  switch (content.type) {
    case "skill-md":
    case "archive":
    case "files":
    case "git":
      return { use: "install" };
    case "api": {
      const files = toSkillFiles(content.descriptor, name);
      return "why" in files ? { use: "cannot", why: files.why } : { use: "invoke" };
    }
    case "descriptor":
      return { use: "unknown", why: "its descriptor was not read" };
    case "unusable":
      return { use: "cannot", why: content.why };
  }
}
