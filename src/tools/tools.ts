import { createBlob } from "./create_blob.ts";
import { describeSkill } from "./describe_skill.ts";
import { listSkills } from "./list_skills.ts";
import { loadSkillsProtocolGuide } from "./load_skills_protocol_guide.ts";
import { readBlob } from "./read_blob.ts";
import { readSkillFile } from "./read_skill_file.ts";
import type { ToolName } from "./tool-names.ts";
import type { Tool } from "./tool.ts";

/** The tools that are served, in the order in which they are listed. */
const tools: readonly Tool[] = Object.freeze([
  listSkills,
  describeSkill,
  readSkillFile,
  createBlob,
  readBlob,
  loadSkillsProtocolGuide,
] as Tool[]);

/** The tools a caller has, in the order in which they are listed. */
export function availableTools(names: readonly ToolName[] | undefined): readonly Tool[] {
  return names === undefined ? tools : tools.filter((tool) => names.includes(tool.name));
}
