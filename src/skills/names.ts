import { nearest } from "../base/text/nearest.ts";
import type { Snapshot } from "./skill.ts";
/** The most characters a slug may have (C-1.2). */
export const maxNameLength = 64;

/** Characters beyond these cannot reach a slug, and normalising long runs of accents is slow. */
export const longestNormalised = 1024;

const slug = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Whether a name is a valid slug (C-1.3). */
export function isSlug(name: string): boolean {
  return name.length <= maxNameLength && slug.test(name);
}

/**
 * The slug of a name (C-1.2): lower case without accents, with a hyphen for each run of other characters. Undefined if nothing is left,
 * as for a name in another script.
 */
export function toSlug(name: string): string | undefined {
  if (isSlug(name)) return name;
  const plain = name
    .slice(0, longestNormalised)
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/['’]/g, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-/, "");
  return plain.slice(0, maxNameLength).replace(/-$/, "") || undefined;
}

/** The message for an unknown skill, with similar names. */
export function noSuchSkill(name: string, { skills, problems }: Snapshot): string {
  const names = skills.flatMap(({ skill }) => (skill.name === skill.slug ? [skill.slug] : [skill.slug, skill.name]));
  const close = nearest(name, names, { count: 3 });
  const guess = close.length > 0 ? `did you mean ${close.join(" or ")}?` : "acp-skills list shows all";
  const leftOut = problems.some(({ severity }) => severity === "error")
    ? " (skills with errors are left out; acp-skills check shows them)"
    : "";
  return `unknown skill ${name}; ${guess}${leftOut}`;
}
