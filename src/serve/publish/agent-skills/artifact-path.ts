/** Where an artifact is served: by its digest, so that what is there never changes. */
export interface ArtifactName {
  readonly slug: string;
  /** The first 32 hexadecimal digits of its SHA-256. */
  readonly digestStart: string;
  readonly type: ArtifactType;
}

/** As Agent Skills discovery names them. */
export type ArtifactType = "skill-md" | "archive";

/** Where indexes and artifacts are, below a share's prefix if any. */
export const agentSkillsPath = "/.well-known/agent-skills";

const endings = { "skill-md": "/SKILL.md", archive: ".tar.gz" } as const satisfies Record<ArtifactType, string>;
const name = /^([a-z0-9-]{1,64})-([0-9a-f]{32})(\/SKILL\.md|\.tar\.gz)$/;
const path = /^(?:\/s\/[^/]+)?\/\.well-known\/agent-skills\/([^/]+(?:\/SKILL\.md)?)$/;

/** The path relative to that of the index: it works below a share's prefix and behind proxies that add their own. */
export function toArtifactName({ slug, digestStart, type }: ArtifactName): string {
  return `${slug}-${digestStart}${endings[type]}`;
}

/** Undefined if the text is no name of an artifact. */
export function readArtifactName(text: string): ArtifactName | undefined {
  const [, slug, digestStart, ending] = name.exec(text) ?? [];
  if (slug === undefined || digestStart === undefined) return undefined;
  return { slug, digestStart, type: ending === endings.archive ? "archive" : "skill-md" };
}

/**
 * Whether a request path is that of an artifact. Clients fetch all artifacts of an index at once, and drop what answers anything but 200:
 * these paths are exempt from the rate limit.
 */
export function isArtifactPath(pathname: string): boolean {
  const found = path.exec(pathname)?.[1];
  return found !== undefined && name.test(found);
}
