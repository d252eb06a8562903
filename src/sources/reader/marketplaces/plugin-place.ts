import { isCommit, parseGitUrl } from "../git.ts";
import { joinTreePath } from "../trees/file-tree.ts";
import type { PluginPlace } from "./marketplace.ts";
import { remotePathFault } from "../../archive/check-path.ts";

export interface PlaceOptions {
  /** `metadata.pluginRoot`: where sources that are bare names count from. */
  readonly pluginRoot?: string;
  /** Where the marketplace was read; undefined in a repository. */
  readonly url?: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** The place that the `source` of an entry names. Nothing is looked up. */
export function toPluginPlace(source: unknown, options: PlaceOptions): PluginPlace {
  if (source === undefined) return toDirectory("./", options);
  if (typeof source === "string") return toDirectory(source, options);
  if (typeof source !== "object" || source === null) return unusable("its source is neither a path nor an object");
  const fields = source as Fields;
  switch (fields.source) {
    case "local":
    case "directory":
      return toDirectory(text(fields.path) ?? "", options);
    case "github":
      return toGit(githubUrl(text(fields.repo)), fields);
    case "url":
    case "git":
    case "git-subdir":
      return toGit(githubUrl(text(fields.url)) ?? text(fields.url), fields);
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

function toDirectory(given: string, { pluginRoot = "", url }: PlaceOptions): PluginPlace {
  if (url !== undefined) {
    return unusable("its source is a path in the marketplace's repository; add that repository instead");
  }
  const path = given === "" ? undefined : toPluginPath(given);
  const root = toPluginPath(pluginRoot === "" ? "./" : pluginRoot);
  if (path === undefined) return unusable("its source is a path that leaves the marketplace, or is not valid");
  if (root === undefined) return unusable("the pluginRoot of the marketplace leaves it, or is not valid");
  if (root === "") return { type: "directory", paths: [path] };
  // Claude Code takes it for bare names only, Copilot for all.
  const joined = joinTreePath(root, path);
  return { type: "directory", paths: given.startsWith(".") ? [path, joined] : [joined, path] };
}

function toGit(repository: string | undefined, { path, ref, sha }: Fields): PluginPlace {
  const inside = path === undefined || path === "" ? "" : toPluginPath(text(path) ?? "/");
  if (inside === undefined) return unusable("its source has a path that leaves the repository, or is not valid");
  if (repository === undefined) return unusable("its source names no repository");
  if (sha !== undefined && (typeof sha !== "string" || !isCommit(sha)))
    return unusable("its source has a sha that is not a full commit id in lower case");
  let url: string;
  try {
    // Only a person may have our ssh key used.
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

function toArchive({ url: given, sha256 }: Fields, { url: base }: PlaceOptions): PluginPlace {
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

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function unusable(why: string): PluginPlace {
  return { type: "unusable", why };
}

/**
 * A relative path of a marketplace or manifest as a path of a tree: `./a/b/` is `a/b`, `.` and `./` are the root. Undefined for a path
 * that is absolute, leaves the root or cannot name a directory.
 */
export function toPluginPath(text: string): string | undefined {
  const plain = text.replace(/^(?:\.\/+)+/, "").replace(/\/+$/, "");
  if (plain === "" || plain === ".") return text.startsWith("/") ? undefined : "";
  return remotePathFault(plain) === undefined ? plain : undefined;
}
