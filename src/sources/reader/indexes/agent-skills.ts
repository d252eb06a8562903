import type { Steps } from "../../../base/promises.ts";
import { type Listed, type SkippedEntry, collectSkills, indexLimits, resolveDocumentLink } from "./collect-skills.ts";
import { digestForm } from "../../../base/text/content.ts";
import { skillLimits } from "../../source.ts";
import type { RemoteContent, RemoteSkill } from "../../reader.ts";
import { cleanText } from "../../../base/text/unsafe-characters.ts";
import { isSlug } from "../../../skills/skill.ts";

/** The identifier of version 0.2, compared as text. */
export const agentSkillsSchema = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";

export interface AgentSkillsIndex extends Listed {
  readonly form: "agent-skills-0.1" | "agent-skills-0.2";
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads an index of Agent Skills discovery: 0.2 (`$schema`), 0.1 (neither `$schema` nor `version`), or the draft of 0.2. The draft has a
 * `version` and lists files with digests. `url` is the URL that answered.
 */
export function* parseAgentSkills(index: Fields, url: string): Steps<AgentSkillsIndex> {
  const { $schema: schema, version, skills } = index;
  const says = (major: string): boolean => typeof version === "string" && `${version}.`.startsWith(major);
  const isFirst = schema === undefined && (version === undefined || says("0.1."));
  const isDraft = schema === undefined && says("0.2.");
  const form = isFirst ? "agent-skills-0.1" : "agent-skills-0.2";
  if (!isFirst && !isDraft && schema !== agentSkillsSchema) {
    const [key, value] = schema === undefined ? ["version", version] : ["$schema", schema];
    const shown = typeof value === "string" ? cleanText(value, 200) : "not a text";
    const problem = `${key} is ${shown}; expected the $schema ${agentSkillsSchema}, or version 0.1 without $schema`;
    return { form, skills: [], problems: [problem] };
  }
  if (!Array.isArray(skills)) return { form, skills: [], problems: ["skills is not an array"] };
  const contentOf = (name: string, entry: Fields): RemoteContent | SkippedEntry => {
    // Between the draft and version 0.2, entries had the form of 0.2 without $schema.
    return isFirst || (isDraft && entry["url"] === undefined) ? filesOf(name, entry, url) : artifactOf(entry, url);
  };
  return { form, ...(yield* collectSkills(skills, (entry) => toSkill(entry, contentOf))) };
}

function toSkill(
  entry: unknown,
  contentOf: (name: string, entry: Fields) => RemoteContent | SkippedEntry,
): RemoteSkill | SkippedEntry {
  if (typeof entry !== "object" || entry === null) return { why: "it is not an object" };
  const fields = entry as Fields;
  const { name, description, version } = fields;
  if (typeof name !== "string" || !isSlug(name))
    return { why: `name: expected 1 to ${indexLimits.nameLength} lower-case letters, digits and single hyphens` };
  const text = typeof description === "string" ? cleanText(description, indexLimits.descriptionLength) : "";
  if (text === "") return { why: "description: expected a text" };
  const content = contentOf(name, fields);
  if (!("type" in content)) return content;
  const known = typeof version === "string" ? cleanText(version, indexLimits.versionLength) : "";
  return { name, description: text, ...(known !== "" && { version: known }), content };
}

/** Reads one artifact, `{type, url, digest}`. */
function artifactOf({ type, url: link, digest }: Fields, base: string): RemoteContent | SkippedEntry {
  if (type !== "skill-md" && type !== "archive") {
    const shown = typeof type === "string" ? cleanText(type, 40) : "missing";
    return { type: "unusable", why: `its type is ${shown}; this program reads skill-md and archive` };
  }
  if (typeof link !== "string" || link === "") return { why: "url: expected a URL" };
  const resolved = resolveDocumentLink(link, base);
  if ("why" in resolved) return { why: `url: ${resolved.why}` };
  if (typeof digest !== "string" || !digestForm.test(digest))
    return { why: "digest: expected sha256: and 64 hexadecimal digits" };
  return { type, url: resolved.url, digest };
}

/** Reads `{files}`: paths below the skill's directory beside the index. The draft adds digests, and perhaps a package of all files. */
function filesOf(name: string, { files, package: whole }: Fields, base: string): RemoteContent | SkippedEntry {
  if (typeof whole === "object" && whole !== null) return artifactOf({ ...whole, type: "archive" }, base);
  if (!Array.isArray(files) || files.length === 0) return { why: "files: expected the paths of its files" };
  if (files.length > skillLimits.files)
    return { why: `files: ${files.length} are listed; the limit is ${skillLimits.files}` };
  const found: { readonly path: string; readonly url: string; readonly digest?: string }[] = [];
  for (const file of files as readonly unknown[]) {
    const { path, digest } = typeof file === "string" ? { path: file } : ((file ?? {}) as Fields);
    if (typeof path !== "string" || !isFilePath(path))
      return { why: "files: expected relative paths of printable ASCII without .., \\, ?, #, [ and ]" };
    if (typeof file !== "string" && (typeof digest !== "string" || !digestForm.test(digest)))
      return { why: "files: expected a digest, sha256: and 64 hexadecimal digits, for each path" };
    const link = `${name}/${path.split("/").map(encodeURIComponent).join("/")}`;
    const resolved = resolveDocumentLink(link, base);
    if ("why" in resolved) return { why: `files: ${resolved.why}` };
    found.push({ path, url: resolved.url, ...(typeof digest === "string" && { digest }) });
  }
  const paths = new Set(found.map(({ path }) => path));
  if (!paths.has("SKILL.md")) return { why: "files: SKILL.md is missing" };
  return paths.size < found.length ? { why: "files: a path is listed twice" } : { type: "files", files: found };
}

function isFilePath(path: string): boolean {
  const segments = path.split("/");
  const isPlain = path.length <= skillLimits.pathLength && /^[\x20-\x7e]+$/.test(path) && !/[\\?#[\]]/.test(path);
  return isPlain && segments.every((segment) => segment !== "" && segment !== "." && segment !== "..");
}
