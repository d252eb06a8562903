/** The eight meta-tools (CONTRACT C-2.1), in the order in which they are listed. */
export const toolNames = [
  "list_skills",
  "describe_skill",
  "read_skill_file",
  "execute_skill",
  "run_code",
  "create_blob",
  "read_blob",
  "load_skills_protocol_guide",
] as const;

export type ToolName = (typeof toolNames)[number];
