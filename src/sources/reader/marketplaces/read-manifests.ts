import { parseIfJson, hasTooManyValues } from "../../../base/json/json-value.ts";
import { type FileTree, joinTreePath } from "../trees/file-tree.ts";
import { type PluginParts, manifestPaths } from "./marketplace.ts";
import { parseManifest } from "./parse-marketplace.ts";

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
