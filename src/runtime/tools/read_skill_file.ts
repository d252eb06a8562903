import * as z from "zod";
import { SkillsError } from "../../base/errors.ts";
import { asAvailable, nearest } from "../../base/text/nearest.ts";
import { withoutTags } from "../../base/text/unsafe-characters.ts";
import { runInSlices } from "../../base/promises.ts";
import type { Skill } from "../../skills/skill.ts";
import { toContent } from "../../base/text/content.ts";
import { invalidPath, locateSkillFile, skillPathFault, walkSkill } from "../../skills/hash.ts";
import { defineTool } from "./tool.ts";
import type { SkillSource } from "../../skills/files.ts";
import { maxReadFileBytes, maxReplyBytes } from "../../wire/tools.ts";

export const readSkillFile = defineTool({
  name: "read_skill_file",
  description: "Read any file in a skill's directory (e.g., SKILL.md, extra docs, schemas).",
  input: z.strictObject({
    name: z.string().describe("Skill name"),
    version: z.string().optional().describe("Skill version (omit for latest)"),
    path: z.string().describe("Path to file within skill directory (e.g., 'SKILL.md')"),
  }),
  output: z.strictObject({
    content: z.string(),
    encoding: z.enum(["utf-8", "base64"]),
    size_bytes: z.number(),
    truncated: z.boolean(),
  }),
  async run({ skills, sourceOf, mayRead, digestOf }, { name, version, path }, signal) {
    const { skill } = skills.find(name, version);
    const fault = skillPathFault(path);
    if (fault !== undefined) throw invalidPath(fault);
    await mayRead(skill, signal);
    const source = sourceOf(skill);
    const real = locateSkillFile(source, skill, path);
    const part = real === undefined ? undefined : source.bytes.head(real, maxReplyBytes);
    if (part === undefined) throw await fileNotFound(source, skill, path);
    const { bytes, size } = part;
    if (size > maxReadFileBytes) throw fileTooLarge(path, size);
    const truncated = bytes.length < size;
    const { content, encoding } = toContent(bytes, { end: truncated });
    const output = { content: withoutTags(content), encoding, size_bytes: size, truncated };
    const { name: canonical, version: found } = skill;
    return { output, skill: { name: canonical, version: found, digest: await digestOf(skill, signal) } };
  },
});

async function fileNotFound(source: SkillSource, { name, directory }: Skill, path: string): Promise<SkillsError> {
  const { files } = await runInSlices(walkSkill(source.files, directory));
  const available = nearest(
    path,
    files.map((file) => file.path),
    asAvailable,
  );
  const facts = { available };
  return new SkillsError("FILE_NOT_FOUND", `Unknown file ${JSON.stringify(path)} in the skill ${name}.`, { facts });
}

function fileTooLarge(path: string, size: number): SkillsError {
  const message = `${JSON.stringify(path)} is ${size} bytes long; the limit is ${maxReadFileBytes} bytes.`;
  return new SkillsError("FILE_TOO_LARGE", message, { facts: { limitBytes: maxReadFileBytes } });
}
