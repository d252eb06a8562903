import { createHash } from "node:crypto";
import type { Skill as SkillEntry } from "@modelcontextprotocol/client/ext/skills";
import { isObject } from "../../../../base/json/json-value.ts";
import { decodedPath } from "../../../../base/paths/location.ts";
import { remotePathFault } from "../../../archive/check-path.ts";
import { skillLimits } from "../../../archive/skill-limits.ts";
import type { RemoteContent } from "../../../reader.ts";

const manifest = "SKILL.md";

/** A file of a skill: its URI on the server, and its path in the skill. */
export interface ListedFile {
  readonly uri: string;
  readonly path: string;
}

/** Returns the files that an entry lists, or a sentence why the skill cannot be installed. */
export function filesOfEntry({ uri, resources }: SkillEntry): readonly ListedFile[] | { readonly why: string } {
  if (resources === "dynamic")
    return { why: "its server generates it anew each time, without digests, so nothing says what would be installed" };
  const bytes = resources.reduce((sum, { size }) => sum + size, 0);
  if (resources.length > skillLimits.files)
    return { why: `it has ${resources.length} files; the limit is ${skillLimits.files}` };
  if (bytes > skillLimits.bytes) return { why: `it has ${bytes} bytes; the limit is ${skillLimits.bytes}` };
  const root = uri.slice(0, -manifest.length);
  const files: ListedFile[] = [];
  for (const { uri: file } of resources) {
    const path = file.startsWith(root) ? decodedPath(file.slice(root.length)) : undefined;
    const fault = path === undefined ? "is not a path in the skill" : remotePathFault(path);
    if (path === undefined || fault !== undefined) return { why: `the path of ${shownUri(file)} ${fault ?? ""}` };
    files.push({ uri: file, path });
  }
  return files;
}

/** Computes a digest over a skill's URI and the URIs, digests and sizes of its files: no other entry has the same one. */
export function pinOfEntry({ uri, resources }: SkillEntry): string {
  const files = resources === "dynamic" ? resources : resources.map((one) => [one.uri, one.digest, one.size]).sort();
  return `sha256:${createHash("sha256")
    .update(JSON.stringify([uri, files]))
    .digest("hex")}`;
}

/** Returns the content of a skill; `source` is the whole text of its server. */
export function contentOfEntry(entry: SkillEntry, source: string): RemoteContent {
  const files = filesOfEntry(entry);
  if ("why" in files) return { type: "unusable", why: files.why };
  return { type: "pinned", source, pin: pinOfEntry(entry), place: entry.uri };
}

/** Writes an entry as the text of a SKILL.md: YAML takes JSON. The file itself is read when the skill is installed. */
export function textOfEntry({ frontmatter }: SkillEntry): string {
  const { name, description, metadata } = frontmatter;
  const version = isObject(metadata) && typeof metadata["version"] === "string" ? metadata["version"] : undefined;
  const lines = { name, description, ...(version !== undefined && { metadata: { version } }) };
  return `---\n${JSON.stringify(lines)}\n---\n`;
}

/** Returns the directory of a skill on its server, as a path. */
export function directoryOfEntry({ uri }: SkillEntry): string {
  return uri.slice(0, -manifest.length - 1).replace(/^[a-z][a-z0-9+.-]*:\/*/i, "");
}

const maxShownLength = 200;

export function shownUri(uri: string): string {
  return JSON.stringify(uri.length > maxShownLength ? `${uri.slice(0, maxShownLength)}…` : uri);
}
