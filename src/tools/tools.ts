import { createBlob } from "./create_blob.ts";
import { describeSkill } from "./describe_skill.ts";
import { executeSkill } from "./execute_skill.ts";
import { listSkills } from "./list_skills.ts";
import { loadSkillsProtocolGuide } from "./load_skills_protocol_guide.ts";
import { readBlob } from "./read_blob.ts";
import { readSkillFile } from "./read_skill_file.ts";
import { runCode } from "./run_code.ts";
import type { ToolName } from "./tool-names.ts";
import type { Tool } from "./tool.ts";

/** The tools, in the order in which they are listed. A tool is its file, its line here, and its row in `tool-names.ts`. */
const tools = {
  list_skills: listSkills,
  describe_skill: describeSkill,
  read_skill_file: readSkillFile,
  execute_skill: executeSkill,
  run_code: runCode,
  create_blob: createBlob,
  read_blob: readBlob,
  load_skills_protocol_guide: loadSkillsProtocolGuide,
} as const satisfies Record<ToolName, object>;

/** The tools by name, as their files define them. */
export type Tools = typeof tools;

const all = Object.values(tools) as readonly unknown[] as readonly Tool[];

/** The tools a caller has, in the order in which they are listed. */
export function availableTools(names: readonly ToolName[] | undefined): readonly Tool[] {
  return names === undefined ? all : all.filter((tool) => names.includes(tool.name));
}
