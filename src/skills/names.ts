/** The most characters a slug may have (C-1.2). */
export const maxNameLength = 64;

/** Nothing behind so many characters gets into a slug; and normalising long runs of accents takes long. */
export const longestNormalised = 1024;

const slug = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Whether a name can go on the wire as it stands (C-1.3). */
export function isSlug(name: string): boolean {
  return name.length <= maxNameLength && slug.test(name);
}

/**
 * The slug of a name (C-1.2): dots become hyphens, and so does every run of characters that a slug cannot have, once
 * letters have lost their case and accents. Undefined where nothing is left, as with a name in another script.
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
