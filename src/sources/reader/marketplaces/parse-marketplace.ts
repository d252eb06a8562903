import { isObject } from "../../../base/json/json-value.ts";
import type { Marketplace, PluginEntry, PluginParts } from "./marketplace.ts";
import { type PlaceOptions, toPluginPlace } from "./plugin-place.ts";

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
