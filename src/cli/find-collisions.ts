import path from "node:path";
import { assemble } from "../skills/assemble.ts";
import type { Problem } from "../skills/problem.ts";
import type { FoundSkill } from "../skills/found.ts";
import type { Root } from "../skills/roots.ts";

const ofSeveral: ReadonlySet<string> = new Set(["slug-collision", "slug-qualified", "skill-copy"]);

/**
 * Skills that would get in each other's way in one catalog. A checked tree may hold the skills of many projects, which
 * never meet; each directory called `skills` is taken for a root of its own.
 */
export function findCollisions(found: readonly FoundSkill[]): Problem[] {
  const roots = new Map<string, Root>();
  const groups = new Map<Root, FoundSkill[]>();
  for (const one of found) {
    const place = rootAbove(one.record.path);
    const root = roots.get(place) ?? { path: place, origin: "explicit" };
    roots.set(place, root);
    const group = groups.get(root);
    if (group === undefined) groups.set(root, [one]);
    else group.push(one);
  }
  return [...groups].flatMap(([root, group]) => {
    const skills = group.map((one) => ({ ...one, roots: [root] }));
    return assemble({ skills, findings: [] }).problems.filter(({ code }) => ofSeveral.has(code));
  });
}

/** The innermost directory called `skills` above a skill; where there is none, one root holds them all. */
function rootAbove(directory: string): string {
  const segments = path.dirname(directory).split(path.sep);
  const at = segments.lastIndexOf("skills");
  return at < 0 ? "" : segments.slice(0, at + 1).join(path.sep);
}
