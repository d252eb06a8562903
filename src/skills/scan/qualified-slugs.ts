import { createHash } from "node:crypto";
import path from "node:path";
import { maxNameLength, toSlug } from "../names.ts";
import type { Family } from "./skill-families.ts";

/** Names of directories that say nothing of the skill below them; used where no other name tells it apart. */
const generic: ReadonlySet<string> = new Set(["skills", "skill", "plugins", "agents", "claude", "src"]);
const hashLength = 8;

/**
 * A slug for each of different skills with one slug but the first, which keeps it: qualified by the nearest directory that no
 * other of them lies in. It depends on their paths alone, so that no name passes from one of them to another as they come and
 * go. `take` says whether a slug was free, and is not any more.
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

/** The directories in which a skill lies, its own first, as parts of a slug: vague ones last, then each with the one above it. */
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
