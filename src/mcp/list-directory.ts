import { DIRECTORY_MIME_TYPE } from "@modelcontextprotocol/server/ext/skills";
import type { DirectoryResource } from "@modelcontextprotocol/server/ext/skills";
import type { HashedFile } from "../skills/hash/hash-skill.ts";
import { toMimeType } from "../skills/files/mime-type.ts";
import { toSkillUri } from "./skill-uri.ts";
import type { SkillUri } from "./skill-uri.ts";

/** The direct children of a directory of a skill; undefined if it has none. Pure. */
export function listDirectory(files: readonly HashedFile[], { slug, path }: SkillUri): DirectoryResource[] | undefined {
  const prefix = path === "" ? "" : `${path}/`;
  const children = new Map<string, DirectoryResource>();
  for (const file of files) {
    if (!file.path.startsWith(prefix)) continue;
    const [name = "", ...below] = file.path.slice(prefix.length).split("/");
    const uri = toSkillUri({ slug, path: prefix + name });
    const kind =
      below.length > 0 ? { mimeType: DIRECTORY_MIME_TYPE } : { mimeType: toMimeType(file.path), size: file.size_bytes };
    children.set(name, { uri, name, ...kind });
  }
  return children.size === 0 ? undefined : [...children.values()];
}
