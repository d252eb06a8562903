import { createHash } from "node:crypto";
import path from "node:path";
import { maxNameLength, toSlug } from "../names.ts";
import type { Family } from "./skill-families.ts";

/** Directory names that do not describe the skills in them; used only if no other name is unique. */
const generic: ReadonlySet<string> = new Set(["skills", "skill", "plugins", "agents", "claude", "src"]);
const hashLength = 8;

/**
 * Slugs for different skills with the same slug, except the first, which keeps it: prefixed by the nearest directory that contains none
 * of the others. They depend on paths alone, so that no slug moves from one skill to another as skills come and go. `take` claims a
 * slug and returns whether it was free.
 */
export function qualifiedSlugs(
  slug: string,
  families: readonly Family[],
  take: (slug: string) => boolean,
): Map<Family, string> {
  const candidates = new Map(families.map((family) => [family, directoryNames(family)]));
  const counts = new Map<string, number>();
  for (const own of candidates.values()) {
    for (const name of new Set(own)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const result = new Map<Family, string>();
  for (const family of families.slice(1)) {
    const telling = (candidates.get(family) ?? []).filter((name) => counts.get(name) === 1 && name !== slug);
    const hash = createHash("sha256").update(family.directory).digest("hex").slice(0, hashLength);
    const choices = [...telling.map((name) => fit(`${name}-${slug}`, hash)), fit(`${slug}-${hash}`, hash)];
    const free = choices.find(take);
    if (free !== undefined) result.set(family, free);
  }
  return result;
}

/** The directories that contain a skill as slug parts, innermost first: generic ones last, then each with its parent. */
function directoryNames({ directory }: Family): string[] {
  const names = directory
    .split(path.sep)
    .reverse()
    .flatMap((name) => toSlug(name) ?? []);
  const pairs = names.slice(1).map((above, index) => `${above}-${names[index] ?? ""}`);
  return [...names.filter((name) => !generic.has(name)), ...names.filter((name) => generic.has(name)), ...pairs];
}

function fit(slug: string, hash: string): string {
  if (slug.length <= maxNameLength) return slug;
  return `${slug.slice(0, maxNameLength - hashLength - 1).replace(/-$/, "")}-${hash}`;
}
