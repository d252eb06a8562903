import path from "node:path";
import { assemble } from "../skills/assemble.ts";
import type { Problem } from "../skills/problem.ts";
import type { DirectoryRecord } from "../skills/read-directory.ts";
import type { Root } from "../skills/roots.ts";

/**
 * Skills that would get in each other's way in one catalog. A checked tree may hold the skills of many projects, which
 * never meet; each directory called `skills` is taken for a root of its own.
 */
export function findCollisions(records: readonly DirectoryRecord[]): Problem[] {
  const roots = new Map<string, Root>();
  const groups = new Map<Root, DirectoryRecord[]>();
  for (const record of records) {
    const place = rootAbove(record.path);
    const root = roots.get(place) ?? { path: place, origin: "explicit" };
    roots.set(place, root);
    const group = groups.get(root);
    if (group === undefined) groups.set(root, [record]);
    else group.push(record);
  }
  return [...groups].flatMap(([root, group]) => {
    const skills = group.map((record) => ({ record, roots: [root] }));
    return assemble({ skills, findings: [] }).problems.filter(({ code }) => code === "slug-collision");
  });
}

/** The innermost directory called `skills` above a skill; where there is none, one root holds them all. */
function rootAbove(directory: string): string {
  const segments = path.dirname(directory).split(path.sep);
  const at = segments.lastIndexOf("skills");
  return at < 0 ? "" : segments.slice(0, at + 1).join(path.sep);
}
