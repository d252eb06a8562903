/** Where a domain, or a path of it, publishes its skills; the later ones are older forms of the same. */
export function wellKnownAddresses(base: URL, directory: string): readonly string[] {
  return ["skill-sharing", "agent-skills/index.json", "skills/index.json"].map(
    (name) => new URL(`${directory}/.well-known/${name}`, base).href,
  );
}

/** The path of a URL without a slash at its end: empty for a bare domain. */
export function pathWithoutTrailingSlash({ pathname }: URL): string {
  return pathname.replace(/\/+$/, "");
}

/** Whether the path has the form of a document's: it is asked for itself first. */
export function isDocument({ pathname }: URL): boolean {
  return /\.(?:json|md)$/i.test(pathname);
}

/** The name of the skill that an archive's path names: `rows-clean` of `/x/rows-clean-1.2.0.tar.gz`; undefined for other paths. */
export function archiveName({ pathname }: URL): string | undefined {
  const [, name] = /\/([^/]+)\.(?:tar\.gz|tgz|zip|tar)$/i.exec(pathname) ?? [];
  return name?.replace(/[-_.]v?\d+(?:\.\d+)+.*$/, "");
}

/** Whether the path starts with the capability of a share: its root is another set of skills, and never stands in for it. */
export function isShare({ pathname }: URL): boolean {
  return /^\/s\/[^/]/.test(pathname);
}
