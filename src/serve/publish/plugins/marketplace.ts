import type { ServeConfig } from "../../config.ts";
import { type PublishedSkill, shorten } from "../publication.ts";

/** Returns the directory of a skill's plugin in the repository. */
export function pluginPath(slug: string): string {
  return `plugins/${slug}`;
}

/** The maximum lengths of a description: the first is that of readers, the others are for catalogs of thousands of skills. */
const limits = [1_024, 256, 64] as const;
/** The maximum size of a catalog, in bytes; Claude Code reads at most 5 MiB. */
const maxBytes = 4.75 * 1024 * 1024;
/** The bytes of an entry, besides names, descriptions and URLs. */
const entryBytes = 130;

/**
 * Creates the marketplace for Claude Code, Copilot and Codex: a plugin for each skill. `repository`: its URL for readers that have only
 * this document; absent in the repository itself. No versions: readers would not update a skill whose files changed without its version.
 * Pure.
 */
export function toMarketplaceManifest(
  skills: readonly Pick<PublishedSkill, "skill">[],
  {
    provider,
    share,
    repository,
  }: Pick<ServeConfig, "provider"> & { readonly share?: string | undefined; readonly repository?: string },
): object {
  const bytes = (limit: number): number =>
    skills.reduce(
      (sum, { skill: { slug, description } }) => sum + slug.length * 2 + Buffer.byteLength(shorten(description, limit)),
      skills.length * (entryBytes + (repository?.length ?? 0)),
    );
  const limit = limits.find((characters) => bytes(characters) <= maxBytes) ?? limits[2];
  return {
    name: marketplaceName(provider.domain, share),
    description: `Skills of ${provider.name}`,
    owner: { name: provider.name },
    plugins: skills.map(({ skill: { slug, description } }) => ({
      name: slug,
      source:
        repository === undefined
          ? `./${pluginPath(slug)}`
          : { source: "git-subdir", url: repository, path: pluginPath(slug) },
      description: shorten(description, limit),
      category: "skills",
    })),
  };
}

/** Returns the name of a marketplace. It starts with `skills-`, because some names that start with a company or product are reserved. */
function marketplaceName(domain: string, share: string | undefined): string {
  const host = domain.split(".").reverse();
  const name = ["skills", ...host, ...(share === undefined ? [] : [share])].join("-").toLowerCase();
  return name.replace(/[^a-z0-9]+/g, "-").replace(/-+$/, "");
}

/**
 * Creates the manifest of a skill's plugin, in version 1.0.0 of Agent Plugins, because Codex refuses newer ones. Its name has to be that
 * of the catalog's entry.
 */
export function toPluginManifest({ slug, description }: PublishedSkill["skill"]): object {
  return {
    $schema: "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json",
    name: slug,
    description: shorten(description, limits[0]),
  };
}
