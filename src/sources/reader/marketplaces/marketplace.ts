import { asText, hasTooManyValues, isObject, parseIfJson } from "../../../base/json/json-value.ts";
import { type FileTree, joinTreePath, readSmall } from "../trees/file-tree.ts";
import { isCommit, parseGitUrl } from "../git.ts";
import { remotePathFault } from "../../archive/check-path.ts";

/** The location of a plugin of a marketplace. */
export type PluginLocation =
  /** A directory of the marketplace's own files: the first of these that exists. */
  | { readonly type: "directory"; readonly paths: readonly string[] }
  | {
      readonly type: "git";
      readonly repository: string;
      /** A full commit id, which has precedence over `ref`. */
      readonly commit?: string;
      readonly ref?: string;
      readonly path: string;
    }
  | { readonly type: "archive"; readonly url: string; readonly digest?: string }
  /** An unusable location; `why` is a sentence. */
  | { readonly type: "unusable"; readonly why: string };

/** The fields of an entry or a manifest that concern the skills of a plugin, and those that are ignored. */
export interface PluginContents {
  /** Directories of skills, relative to the plugin. */
  readonly skills: readonly string[];
  /** Fields that run something, which acp-skills never does: `hooks`, `mcpServers` and the like. */
  readonly ignored: readonly string[];
}

/** One entry of a marketplace, as Claude Code, Copilot, Codex and VS Code write it. */
export interface PluginEntry extends PluginContents {
  readonly name: string;
  readonly location: PluginLocation;
  /** Whether the plugin's manifest counts too; if not, the entry is the whole manifest. */
  readonly isStrict: boolean;
}

export interface Marketplace {
  readonly plugins: readonly PluginEntry[];
  /** One sentence for each entry that cannot be used at all. */
  readonly problems: readonly string[];
}

/** The paths of a marketplace in a repository, in the order of reading; the first that is a marketplace counts. */
export const marketplacePaths = [
  ".claude-plugin/marketplace.json",
  ".agents/plugins/marketplace.json",
  ".github/plugin/marketplace.json",
  ".plugin/marketplace.json",
  "marketplace.json",
  ".cursor-plugin/marketplace.json",
];

/** The paths of the manifest in a plugin, in the order of reading. */
const manifestPaths = [
  "plugin.json",
  ".claude-plugin/plugin.json",
  ".codex-plugin/plugin.json",
  ".plugin/plugin.json",
  ".github/plugin/plugin.json",
  ".cursor-plugin/plugin.json",
];

/** Returns the directory to which relative sources of a marketplace refer. */
export function rootOfMarketplace(path: string): string {
  const name = marketplacePaths.find((candidate) => path === candidate || path.endsWith(`/${candidate}`)) ?? "";
  return path.slice(0, path.length - name.length).replace(/\/$/, "");
}

const maxPlugins = 10_000;
const maxSkillPaths = 1_000;
const maxNameLength = 128;
/** Fields of plugins that run something or speak for the user. */
const otherContents = [
  ...["agents", "channels", "commands", "hooks", "lspServers", "mcpServers", "monitors"],
  ...["outputStyles", "settings", "themes", "workflows"],
];

/** Whether a document is a marketplace: an object with an array `plugins`. */
export function isMarketplace(json: unknown): json is { readonly plugins: readonly unknown[] } {
  return isObject(json) && Array.isArray(json.plugins);
}

/** Reads the entries of a marketplace. An unusable entry does not stop the others. Pure. */
export function parseMarketplace(
  json: { readonly plugins: readonly unknown[]; readonly metadata?: unknown },
  { url }: Pick<PluginLocationOptions, "url"> = {},
): Marketplace {
  const options = { pluginRoot: isObject(json.metadata) ? asText(json.metadata.pluginRoot) : undefined, url };
  const problems: string[] = [];
  const plugins: PluginEntry[] = [];
  for (const [index, entry] of json.plugins.slice(0, maxPlugins).entries()) {
    if (!isObject(entry) || typeof entry.name !== "string" || entry.name === "" || entry.name.length > maxNameLength) {
      problems.push(`Entry ${index + 1} of the marketplace has no usable name; left out.`);
      continue;
    }
    const location = toPluginLocation(entry.source, options);
    plugins.push({ name: entry.name, location, isStrict: entry.strict !== false, ...toContents(entry) });
  }
  if (json.plugins.length > maxPlugins)
    problems.push(`The marketplace has more than ${maxPlugins} plugins; the others are left out.`);
  return { plugins, problems };
}

/** Reads a `plugin.json`; undefined if it is not a known manifest. */
export function parseManifest(json: unknown, path: string): PluginContents | undefined {
  if (!isObject(json)) return undefined;
  const { $schema, name } = json;
  const isAgentPlugin = typeof $schema === "string" && $schema.startsWith("https://agent-plugins.org/schemas/");
  // The vendor-neutral form of agent-plugins.org has a fixed directory of skills.
  if (path === "plugin.json" && !isAgentPlugin && typeof name !== "string") return undefined;
  const { skills, ignored } = toContents(json);
  return { skills: isAgentPlugin ? [] : skills, ignored };
}

function toContents(fields: Readonly<Record<string, unknown>>): PluginContents {
  const { skills } = fields;
  const listed: readonly unknown[] = Array.isArray(skills) ? skills : skills === undefined ? [] : [skills];
  return {
    skills: listed.filter((path) => typeof path === "string").slice(0, maxSkillPaths),
    ignored: otherContents.filter((part) => fields[part] !== undefined),
  };
}

const maxManifestBytes = 256 * 1024;

/** Reads the first readable manifest of each plugin. */
export async function readManifests(
  tree: FileTree,
  roots: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, PluginContents>> {
  const paths = [...new Set(roots)].flatMap((root) => manifestPaths.map((path) => joinTreePath(root, path)));
  const contents = await readSmall(tree, paths, maxManifestBytes, signal);
  const manifests = new Map<string, PluginContents>();
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

/** Parses a remote JSON file, which may have a byte order mark; undefined if it is not JSON or has too many keys and values. */
export function parseJsonFile(bytes: Uint8Array): unknown {
  if (hasTooManyValues(bytes)) return undefined;
  const text = Buffer.from(bytes).toString("utf8");
  return parseIfJson(text.replace(/^\ufeff/, ""));
}

interface PluginLocationOptions {
  /** `metadata.pluginRoot`: the directory to which sources that are bare names refer. */
  readonly pluginRoot: string | undefined;
  /** The URL at which the marketplace was read; undefined in a repository. */
  readonly url?: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns the location that the `source` of an entry names. Reads nothing. */
function toPluginLocation(source: unknown, options: PluginLocationOptions): PluginLocation {
  if (source === undefined) return toDirectory("./", options);
  if (typeof source === "string") return toDirectory(source, options);
  if (typeof source !== "object" || source === null) return unusable("its source is neither a path nor an object");
  const fields = source as Fields;
  switch (fields.source) {
    case "local":
    case "directory":
      return toDirectory(asText(fields.path) ?? "", options);
    case "github":
      return toGit(githubUrl(asText(fields.repo)), fields);
    case "url":
    case "git":
    case "git-subdir":
      return toGit(githubUrl(asText(fields.url)) ?? asText(fields.url), fields);
    case "archive":
      return toArchive(fields, options);
    case "command":
      return unusable("its source is a command to run on this machine, which is never done");
    case "npm":
    case "pip":
      return unusable(`its source is a package of ${fields.source}, which is not installed`);
    default:
      return unusable(`its source has the unknown kind ${JSON.stringify(fields.source ?? null).slice(0, 60)}`);
  }
}

function toDirectory(given: string, { pluginRoot = "", url }: PluginLocationOptions): PluginLocation {
  if (url !== undefined)
    return unusable("its source is a path in the marketplace's repository; add that repository instead");
  const path = given === "" ? undefined : toPluginPath(given);
  const root = toPluginPath(pluginRoot === "" ? "./" : pluginRoot);
  if (path === undefined) return unusable("its source is a path that leaves the marketplace, or is not valid");
  if (root === undefined) return unusable("the pluginRoot of the marketplace leaves it, or is not valid");
  if (root === "") return { type: "directory", paths: [path] };
  // Claude Code applies the root to bare names only, Copilot to all.
  const joined = joinTreePath(root, path);
  return { type: "directory", paths: given.startsWith(".") ? [path, joined] : [joined, path] };
}

function toGit(repository: string | undefined, { path, ref, sha }: Fields): PluginLocation {
  const inside = path === undefined || path === "" ? "" : toPluginPath(asText(path) ?? "/");
  if (inside === undefined) return unusable("its source has a path that leaves the repository, or is not valid");
  if (repository === undefined) return unusable("its source names no repository");
  if (sha !== undefined && (typeof sha !== "string" || !isCommit(sha)))
    return unusable("its source has a sha that is not a full commit id in lower case");
  let url: string;
  try {
    // Only a source that the user names may be read with the user's ssh key.
    if (!/^https?:\/\//i.test(repository)) return unusable("its source is not an https URL");
    url = parseGitUrl(repository).url;
  } catch (error) {
    return unusable(`its source is not usable: ${error instanceof Error ? error.message : "it is not a URL"}`);
  }
  return {
    type: "git",
    repository: url,
    path: inside,
    ...(typeof sha === "string" && { commit: sha }),
    ...(typeof ref === "string" && ref !== "" && { ref }),
  };
}

function toArchive({ url: given, sha256 }: Fields, { url: base }: PluginLocationOptions): PluginLocation {
  if (typeof given !== "string" || !URL.canParse(given, base)) return unusable("its archive has no valid URL");
  const { protocol, href } = new URL(given, base);
  if (protocol !== "https:" && protocol !== "http:") return unusable("its archive is not at an https URL");
  if (sha256 === undefined) return { type: "archive", url: href };
  if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/i.test(sha256))
    return unusable("its archive has a sha256 that is not 64 hexadecimal digits");
  return { type: "archive", url: href, digest: `sha256:${sha256.toLowerCase()}` };
}

function githubUrl(name: string | undefined): string | undefined {
  const isName = name !== undefined && /^[A-Za-z0-9][A-Za-z0-9-]*\/[A-Za-z0-9._-]+$/.test(name);
  return isName ? `https://github.com/${name.replace(/\.git$/, "")}.git` : undefined;
}

function unusable(why: string): PluginLocation {
  return { type: "unusable", why };
}

/**
 * Converts a relative path of a marketplace or manifest to a path of a tree: `./a/b/` is `a/b`, `.` and `./` are the root. Undefined for a
 * path that is absolute, leaves the root or cannot name a directory.
 */
export function toPluginPath(text: string): string | undefined {
  const plain = text.replace(/^(?:\.\/+)+/, "").replace(/\/+$/, "");
  if (plain === "" || plain === ".") return text.startsWith("/") ? undefined : "";
  return remotePathFault(plain) === undefined ? plain : undefined;
}
