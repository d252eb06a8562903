/** A file of a skill, as `skill://` URIs name it. */
export interface SkillUri {
  /** The skill's slug. */
  readonly slug: string;
  /** Below the skill's directory, separated by `/`; empty for the directory itself. */
  readonly path: string;
}

/** The one spelling of a file's URI. Throws URIError for a name that is not text. */
export function toSkillUri({ slug, path }: SkillUri): string {
  const segments = path === "" ? [] : path.split("/");
  return [`skill://${slug}`, ...segments.map((segment) => encodeURIComponent(segment))].join("/");
}

/**
 * What a URI names, however it is spelled; undefined for what cannot name a file of a skill. A path is decoded once, segment by
 * segment: a slash that comes out of a segment is refused, and whether the path is a good one is for the caller to say.
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
    // Escapes that are not UTF-8 name nothing.
    return undefined;
  }
}
