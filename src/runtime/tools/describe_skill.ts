import { CORE_SCHEMA, load } from "js-yaml";
import * as z from "zod";
import { isWithin } from "../../base/paths/location.ts";
import { permissionsOf } from "../../skills/permissions.ts";
import { type Skill, isScript } from "../../skills/skill.ts";
import { cleanValue, withoutTags } from "../../base/text/unsafe-characters.ts";
import { findFrontmatter, isYaml, readYaml } from "../../skills/manifest.ts";
import { toContent } from "../../base/text/content.ts";
import type { HashedSkill } from "../../skills/hash.ts";
import { callsOf } from "../runs.ts";
import { maxMountedBytes } from "../runs/run-limits.ts";
import { type UsedSkill, defineTool } from "./tool.ts";
import type { FileHead, SkillSource } from "../../skills/files.ts";
import { maxListedFiles, maxListedVersions, maxReplyBytes } from "../../wire/tools.ts";

const jsonObject = z.record(z.string(), z.unknown());
const calledSkill = z.strictObject({
  skill: z.string(),
  network: z.array(z.string()),
  secrets: z.array(z.string()),
  uses: z
    .array(z.string())
    .optional()
    .describe("Secrets that are sent to a host for it, as NAME@HOST; it cannot read them"),
  project: z.enum(["none", "read", "write"]),
  isolation: z.literal("none").optional().describe("Its code runs without a sandbox"),
});
const hashedFile = z.strictObject({ path: z.string(), size_bytes: z.number(), sha256: z.string() });

export const describeSkill = defineTool({
  name: "describe_skill",
  description: "Retrieve a skill's manifest and documentation frontmatter.",
  input: z.strictObject({
    name: z.string().describe("Skill name (e.g., 'salesforce.leads.sync')"),
    version: z.string().optional().describe("Skill version (omit for latest)"),
    detail: z.enum(["manifest", "summary", "full"]).default("summary").describe("Level of detail to return"),
  }),
  output: z.strictObject({
    skill: z.strictObject({
      manifest: jsonObject,
      calls: z.array(calledSkill).optional().describe("Skills that its code can call, with their own permissions"),
      skill_md_frontmatter: jsonObject.optional(),
      versions: z.array(z.string()).max(maxListedVersions).optional().describe("Newest first"),
      files: z.array(hashedFile).max(maxListedFiles).optional(),
      files_truncated: z.literal(true).optional().describe("Present if not all files are listed"),
      files_problem: z.string().optional().describe("Why no files are listed"),
      digest: z.string().optional().describe("Digest of all files; absent if they are too large"),
      scripts: z
        .array(z.string())
        .max(maxListedFiles)
        .optional()
        .describe("Files that execute_skill can run as script"),
      skill_md_content: z.string().optional(),
      skill_md_truncated: z
        .literal(true)
        .optional()
        .describe("Present if skill_md_content is only the beginning of SKILL.md"),
    }),
  }),
  async run({ skills, sourceOf, hashFiles, mayRead, digestOf }, { name, version, detail }, signal) {
    const { skill, versions } = skills.find(name, version);
    if (detail === "full") await mayRead(skill, signal);
    const calls = callsOf(skill, skills).map(({ network, secrets, uses, ...rest }) => ({
      ...rest,
      network: [...network],
      secrets: [...secrets],
      ...(uses !== undefined && { uses: [...uses] }),
    }));
    const described = { manifest: toManifest(skill), ...(calls.length > 0 && { calls }) };
    const usedWith = (digest: string | undefined): UsedSkill => ({ name: skill.name, version: skill.version, digest });
    if (detail === "manifest") return { output: { skill: described }, skill: usedWith(await digestOf(skill, signal)) };
    const hashed = await hashFiles(skill, signal);
    const used = usedWith(hashed.digest);
    const skillMd = readSkillMd(sourceOf(skill), skill);
    const summary = {
      ...described,
      skill_md_frontmatter: skillMd === undefined ? {} : typedFrontmatter(skillMd.bytes),
      versions: versions.slice(0, maxListedVersions).map((other) => other.version),
      ...filesOf(skill, hashed),
    };
    if (detail === "summary" || skillMd === undefined) return { output: { skill: summary }, skill: used };
    return { output: { skill: { ...summary, ...textOf(skillMd) } }, skill: used };
  },
});

/** Reads SKILL.md; undefined if it does not exist or a link leads outside the skill's directory. */
function readSkillMd({ files, bytes }: SkillSource, { file, directory }: Skill): FileHead | undefined {
  const real = files.resolve(file);
  return real !== undefined && isWithin(real, directory) ? bytes.head(real, maxReplyBytes) : undefined;
}

function textOf({ bytes, size }: FileHead): { skill_md_content: string; skill_md_truncated?: true } {
  const isCut = bytes.length < size;
  const { content, encoding } = toContent(bytes, { end: isCut });
  const text = encoding === "utf-8" ? content : Buffer.from(bytes).toString("utf8");
  return { skill_md_content: withoutTags(text), ...(isCut && { skill_md_truncated: true }) };
}

const filesTooLarge = `The skill's files are larger than ${maxMountedBytes / 1024 / 1024} MiB together, so they are not listed or hashed and the skill cannot be run. read_skill_file can read them.`;

function filesOf(
  { dialect }: Skill,
  { files, digest, tooLarge }: HashedSkill,
): Record<string, unknown> & { files: HashedSkill["files"][number][] } {
  const listed = files.slice(0, maxListedFiles);
  const scripts = dialect === "agent-skills" ? listed.map(({ path }) => path).filter(isScript) : [];
  return {
    files: listed,
    ...((listed.length < files.length || tooLarge) && { files_truncated: true }),
    ...(tooLarge && { files_problem: filesTooLarge }),
    ...(digest !== undefined && { digest }),
    ...(scripts.length > 0 && { scripts }),
  };
}

/** Returns a skill's manifest as new JSON: from `skill.toml`, or composed from the frontmatter. */
function toManifest(skill: Skill): Record<string, unknown> {
  const { manifest, name, version, description, kind, namespace, tags, license, compatibility, allowedTools } = skill;
  if (manifest !== undefined) return toJsonObject({ ...manifest, name, namespace });
  const { network, secrets, uses = [], project, isolation } = permissionsOf(skill);
  // The permissions that `metadata` requests.
  const permissions = {
    ...(network.length > 0 && { network }),
    ...(secrets.length > 0 && { secrets }),
    ...(uses.length > 0 && { uses }),
    ...(project !== "none" && { project }),
    ...(isolation !== undefined && { isolation }),
  };
  const stated = { name, version, description, kind, namespace, tags, license, compatibility };
  const requested = Object.keys(permissions).length > 0 && { permissions };
  return toJsonObject({ ...stated, allowed_tools: allowedTools, ...requested });
}

/** The limits for YAML, those of the catalog's reader: few aliases and little depth keep the expanded document small. */
const bounds = { maxAliases: 10, maxDepth: 20 };

/**
 * Reads the frontmatter of a SKILL.md with the types of YAML's core schema; dates stay strings. Never throws: from invalid YAML, the
 * recoverable values are returned as strings. Empty without YAML frontmatter.
 */
export function typedFrontmatter(bytes: Uint8Array): Record<string, unknown> {
  const found = findFrontmatter(bytes, true);
  if (found.kind !== "found" || !isYaml(found.language)) return {};
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8", found.start, found.end);
  let values: unknown;
  try {
    values = load(text, { schema: CORE_SCHEMA, ...bounds });
  } catch {
    // The catalog reports the syntax error.
    values = readYaml(text).values;
  }
  return toJsonObject(cleanValue(values, withoutTags).value);
}

/**
 * Copies a value as JSON, so that every transport returns the same: dates and bigints become strings, infinities null. A value that is not
 * a mapping becomes an empty object.
 */
function toJsonObject(value: unknown): Record<string, unknown> {
  const json = toJson(value);
  return typeof json === "object" && json !== null && !Array.isArray(json) ? (json as Record<string, unknown>) : {};
}

function toJson(value: unknown): unknown {
  const text = JSON.stringify(value, (_key, inner: unknown) => (typeof inner === "bigint" ? String(inner) : inner)) as
    string | undefined;
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
}
