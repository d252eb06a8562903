/** A file of a skill in a `skill://` URI. */
export interface SkillUri {
  readonly slug: string;
  /** Relative to the skill's directory, with `/`; empty for the directory itself. */
  readonly path: string;
}

/** The canonical URI of a file. Throws URIError for a name with a lone surrogate. */
export function toSkillUri({ slug, path }: SkillUri): string {
  const segments = path === "" ? [] : path.split("/");
  return [`skill://${slug}`, ...segments.map((segment) => encodeURIComponent(segment))].join("/");
}

/**
 * The file that a URI names; undefined for a URI that cannot name one. Each segment is percent-decoded once; an encoded slash is refused.
 * The caller has to validate the path.
 */
export function fromSkillUri(text: string): SkillUri | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, host, hostname, username, password, pathname, search, hash } = new URL(text);
  const isPlain = protocol === "skill:" && host === hostname && host !== "";
  if (!isPlain || `${username}${password}${search}${hash}` !== "") return undefined;
  const segments = pathname.split("/").slice(1).map(decodeSegment);
  if (!segments.every((segment) => segment !== undefined)) return undefined;
  return { slug: host, path: segments.join("/") };
}

function decodeSegment(segment: string): string | undefined {
  try {
    const decoded = decodeURIComponent(segment);
    return decoded.includes("/") ? undefined : decoded;
  } catch {
    // Not UTF-8.
    return undefined;
  }
}
