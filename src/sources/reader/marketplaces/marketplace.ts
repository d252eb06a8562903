import { hasTooManyValues, isObject, parseIfJson } from "../../../base/json/json-value.ts";
import { type PlaceOptions, toPluginPlace } from "./plugin-place.ts";
import { type FileTree, joinTreePath } from "../trees/file-tree.ts";

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
const manifestPaths = [
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

const mostPlugins = 10_000;
const mostSkillPaths = 1_000;
const longestName = 128;
/** Parts of plugins that run something or speak for the user. */
const otherParts = [
  ...["agents", "channels", "commands", "hooks", "lspServers", "mcpServers", "monitors"],
  ...["outputStyles", "settings", "themes", "workflows"],
];

/** Whether a document is a marketplace: an object with an array `plugins`. */
export function isMarketplace(json: unknown): json is { readonly plugins: readonly unknown[] } {
  return isObject(json) && Array.isArray(json.plugins);
}

/** Reads the entries of a marketplace. An entry that is not usable does not stop the others. Pure. */
export function parseMarketplace(
  json: { readonly plugins: readonly unknown[]; readonly metadata?: unknown },
  { url }: Pick<PlaceOptions, "url"> = {},
): Marketplace {
  const pluginRoot = isObject(json.metadata) ? json.metadata.pluginRoot : undefined;
  const options = {
    ...(typeof pluginRoot === "string" && { pluginRoot }),
    ...(url !== undefined && { url }),
  };
  const problems: string[] = [];
  const plugins: PluginEntry[] = [];
  for (const [index, entry] of json.plugins.slice(0, mostPlugins).entries()) {
    if (!isObject(entry) || typeof entry.name !== "string" || entry.name === "" || entry.name.length > longestName) {
      problems.push(`Entry ${index + 1} of the marketplace has no usable name; left out.`);
      continue;
    }
    const place = toPluginPlace(entry.source, options);
    plugins.push({ name: entry.name, place, isStrict: entry.strict !== false, ...toParts(entry) });
  }
  if (json.plugins.length > mostPlugins)
    problems.push(`The marketplace has more than ${mostPlugins} plugins; the others are left out.`);
  return { plugins, problems };
}

/** What a `plugin.json` says; undefined if it is not a manifest that we know. */
export function parseManifest(json: unknown, path: string): (PluginParts & { readonly name?: string }) | undefined {
  if (!isObject(json)) return undefined;
  const { $schema, name } = json;
  const isAgentPlugin = typeof $schema === "string" && $schema.startsWith("https://agent-plugins.org/schemas/");
  // Of this vendor-neutral form the place of skills is fixed.
  if (path === "plugin.json" && !isAgentPlugin && typeof name !== "string") return undefined;
  const { skills, ignored } = toParts(json);
  return { skills: isAgentPlugin ? [] : skills, ignored, ...(typeof name === "string" && { name }) };
}

function toParts(fields: Readonly<Record<string, unknown>>): PluginParts {
  const { skills } = fields;
  const listed: readonly unknown[] = Array.isArray(skills) ? skills : skills === undefined ? [] : [skills];
  return {
    skills: listed.filter((path) => typeof path === "string").slice(0, mostSkillPaths),
    ignored: otherParts.filter((part) => fields[part] !== undefined),
  };
}

const largestManifest = 256 * 1024;

/** The first manifest of each plugin that can be read. */
export async function readManifests(
  tree: FileTree,
  roots: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, PluginParts>> {
  const paths = [...new Set(roots)].flatMap((root) => manifestPaths.map((path) => joinTreePath(root, path)));
  const small = paths.filter((path) => {
    const file = tree.files.get(path);
    return file !== undefined && !file.isLink && file.size <= largestManifest;
  });
  const contents = small.length === 0 ? new Map<string, Uint8Array>() : await tree.read(small, signal);
  const manifests = new Map<string, PluginParts>();
  for (const root of new Set(roots)) {
    for (const path of manifestPaths) {
      const bytes = contents.get(joinTreePath(root, path));
      const manifest = bytes === undefined ? undefined : parseManifest(parseJsonFile(bytes), path);
      if (manifest === undefined) continue;
      manifests.set(root, manifest);
      break;
    }
  }
  return manifests;
}

/** The value of a JSON file of others, which may begin with a byte order mark; undefined if it is not JSON, or has too many keys and values. */
export function parseJsonFile(bytes: Uint8Array): unknown {
  if (hasTooManyValues(bytes)) return undefined;
  const text = Buffer.from(bytes).toString("utf8");
  return parseIfJson(text.replace(/^\ufeff/, ""));
}
