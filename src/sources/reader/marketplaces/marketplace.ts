/** Where a plugin of a marketplace is. */
export type PluginPlace =
  /** Of the marketplace's own files; the first of these directories that exists. */
  | { readonly type: "directory"; readonly paths: readonly string[] }
  | {
      readonly type: "git";
      readonly repository: string;
      /** A full commit id; it counts before `ref`. */
      readonly commit?: string;
      readonly ref?: string;
      readonly path: string;
    }
  | { readonly type: "archive"; readonly url: string; readonly digest?: string }
  /** `why` is a sentence. */
  | { readonly type: "unusable"; readonly why: string };

/** What an entry or a manifest says about where a plugin has its skills, and what else it has. */
export interface PluginParts {
  /** Directories of skills, relative to the plugin. */
  readonly skills: readonly string[];
  /** Parts that run something, which we never do: `hooks`, `mcpServers` and the like. */
  readonly ignored: readonly string[];
}

/** One entry of a marketplace, as Claude Code, Copilot, Codex and VS Code write it. */
export interface PluginEntry extends PluginParts {
  readonly name: string;
  readonly place: PluginPlace;
  /** False: the entry is the whole manifest. */
  readonly isStrict: boolean;
}

export interface Marketplace {
  readonly plugins: readonly PluginEntry[];
  /** One sentence for each entry that cannot be used at all. */
  readonly problems: readonly string[];
}

/** Where a marketplace is in a repository, in the order in which readers look; the first that is one counts. */
export const marketplacePaths = [
  ".claude-plugin/marketplace.json",
  ".agents/plugins/marketplace.json",
  ".github/plugin/marketplace.json",
  ".plugin/marketplace.json",
  "marketplace.json",
  ".cursor-plugin/marketplace.json",
];

/** Where a plugin has its manifest, likewise. */
export const manifestPaths = [
  "plugin.json",
  ".claude-plugin/plugin.json",
  ".codex-plugin/plugin.json",
  ".plugin/plugin.json",
  ".github/plugin/plugin.json",
  ".cursor-plugin/plugin.json",
];

/** The directory that relative sources of a marketplace count from. */
export function rootOfMarketplace(path: string): string {
  const name = marketplacePaths.find((candidate) => path === candidate || path.endsWith(`/${candidate}`)) ?? "";
  return path.slice(0, path.length - name.length).replace(/\/$/, "");
}
