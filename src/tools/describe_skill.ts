import * as z from "zod";
import { isWithin } from "../base/paths/is-within.ts";
import { withoutTags } from "../skills/text/invisible-characters.ts";
import type { Skill } from "../skills/skill.ts";
import { toContent } from "./answers/content.ts";
import type { HashedSkill } from "../skills/hash/hash-skill.ts";
import { maxListedFiles, maxListedVersions, maxReplyBytes } from "./input/limits.ts";
import { callsOf } from "../runs/plan/dependencies.ts";
import { isScript } from "../runs/plan/plan-skill-run.ts";
import { maxMountedBytes } from "../runs/plan/run-limits.ts";
import type { FilePart, SkillSource } from "../skills/files/skill-files.ts";
import { toManifest } from "./answers/to-manifest.ts";
import { defineTool, readOnly } from "./tool.ts";
import { typedFrontmatter } from "./answers/typed-frontmatter.ts";

const jsonObject = z.record(z.string(), z.unknown());
const calledSkill = z.strictObject({
  skill: z.string(),
  network: z.array(z.string()),
  secrets: z.array(z.string()),
  project: z.enum(["none", "read", "write"]),
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
  annotations: readOnly,
  async run({ skills, sourceOf, hashFiles }, { name, version, detail }, signal) {
    const { skill, versions } = skills.find(name, version);
    const calls = callsOf(skill, skills).map(({ network, secrets, ...rest }) => ({
      ...rest,
      network: [...network],
      secrets: [...secrets],
    }));
    const described = { manifest: toManifest(skill), ...(calls.length > 0 && { calls }) };
    if (detail === "manifest") return { output: { skill: described }, skill };
    const hashed = await hashFiles(skill, signal);
    const skillMd = readSkillMd(sourceOf(skill), skill);
    const summary = {
      ...described,
      skill_md_frontmatter: skillMd === undefined ? {} : typedFrontmatter(skillMd.bytes),
      versions: versions.slice(0, maxListedVersions).map((other) => other.version),
      ...filesOf(skill, hashed),
    };
    if (detail === "summary" || skillMd === undefined) return { output: { skill: summary }, skill };
    return { output: { skill: { ...summary, ...textOf(skillMd) } }, skill };
  },
});

/** Undefined if it does not exist or a link points outside the skill's directory. */
function readSkillMd({ files, bytes }: SkillSource, { file, directory }: Skill): FilePart | undefined {
  const real = files.resolve(file);
  return real !== undefined && isWithin(real, directory) ? bytes.head(real, maxReplyBytes) : undefined;
}

function textOf({ bytes, size }: FilePart): { skill_md_content: string; skill_md_truncated?: true } {
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
