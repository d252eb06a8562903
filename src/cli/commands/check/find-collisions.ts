import { assemble } from "../../../skills/scan/assemble.ts";
import type { FoundSkill } from "../../../skills/scan/found.ts";
import type { Problem } from "../../../skills/rules/problem.ts";

const ofSeveral: ReadonlySet<string> = new Set(["slug-collision", "slug-qualified", "skill-copy", "skill-shadowed"]);

/** What is to be said of skills that have the same name in one catalog. */
export function findCollisions(skills: readonly FoundSkill[]): readonly Problem[] {
  return assemble({ skills, findings: [] }).problems.filter(({ code }) => ofSeveral.has(code));
}
