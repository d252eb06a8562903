import * as z from "zod";
import { SkillsError } from "../errors.ts";
import { nearestNames } from "../nearest-names.ts";
import { isWithin, joinPath } from "../skills/real-paths.ts";
import { runInSlices } from "../skills/slices.ts";
import type { Skill } from "../skills/skill.ts";
import { toContent } from "./content.ts";
import { maxFileBytes, maxReplyBytes } from "./limits.ts";
import { readOnly } from "./read-only.ts";
import { isHiddenName, skillPathFault } from "./skill-path.ts";
import { defineTool } from "./tool.ts";
import type { SkillSource } from "./skill-source.ts";
import { isHiddenBelow, walkSkill } from "./walk-skill.ts";

export const readSkillFile = defineTool({
  name: "read_skill_file",
  title: "Read a skill's file",
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
  annotations: readOnly,
  async run({ skills, sourceOf }, { name, version, path }) {
    const { skill } = skills.find(name, version);
    const fault = skillPathFault(path);
    if (fault !== undefined) throw invalidPath(fault);
    const source = sourceOf(skill);
    const real = locate(source, skill, path);
    const part = real === undefined ? undefined : source.bytes.head(real, maxReplyBytes);
    if (part === undefined) throw await fileNotFound(source, skill, path);
    const { bytes, size } = part;
    if (size > maxFileBytes) throw fileTooLarge(path, size);
    const truncated = bytes.length < size;
    return { output: { ...toContent(bytes, { end: truncated }), size_bytes: size, truncated }, skill };
  },
});

/** The real path of a file that may be served. What is hidden is not there; what leads outside is refused. */
function locate({ files }: SkillSource, { directory }: Skill, path: string): string | undefined {
  const segments = path.split("/");
  if (segments.some(isHiddenName)) return undefined;
  const real = files.resolve(segments.reduce(joinPath, directory));
  if (real === undefined) return undefined;
  if (!isWithin(real, directory)) throw invalidPath("leads outside the skill's directory");
  return isHiddenBelow(real, directory) ? undefined : real;
}

function invalidPath(fault: string): SkillsError {
  const hint = "Take a path from the files that describe_skill lists, such as SKILL.md or references/guide.md.";
  return new SkillsError("INVALID_PATH", `The path ${fault}.`, { facts: { hint } });
}

async function fileNotFound(source: SkillSource, { name, directory }: Skill, path: string): Promise<SkillsError> {
  const { files } = await runInSlices(walkSkill(source.files, directory), { now: () => performance.now(), slice: 3 });
  const available = nearestNames(
    path,
    files.map((file) => file.path),
  );
  return new SkillsError("FILE_NOT_FOUND", `The skill ${name} has no file ${JSON.stringify(path)}.`, {
    facts: { available },
  });
}

function fileTooLarge(path: string, size: number): SkillsError {
  const message = `${JSON.stringify(path)} has ${size} bytes; files above ${maxFileBytes} bytes are not read.`;
  return new SkillsError("FILE_TOO_LARGE", message, { facts: { limitBytes: maxFileBytes } });
}
