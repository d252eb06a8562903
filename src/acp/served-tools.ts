import type { ToolName } from "../tools/tool-names.ts";

/** What this door knows of a tool without loading it: the tools bring zod with them, and an agent must start without delay. */
interface ServedTool {
  /** It changes nothing, so that the agent need not ask for permission. */
  readonly readOnly: boolean;
  readonly parameters: readonly string[];
}

const tools = {
  list_skills: { readOnly: true, parameters: ["namespace", "detail", "limit", "cursor"] },
  describe_skill: { readOnly: true, parameters: ["name", "version", "detail"] },
  read_skill_file: { readOnly: true, parameters: ["name", "path", "version"] },
  create_blob: { readOnly: false, parameters: ["content", "kind"] },
  read_blob: { readOnly: true, parameters: ["blob_id", "mode", "max_bytes"] },
  load_skills_protocol_guide: { readOnly: true, parameters: [] },
} as const satisfies Partial<Record<ToolName, ServedTool>>;

/** The tools that are served, in the order in which they are listed. */
export const servedTools: ReadonlyMap<string, ServedTool> = new Map(Object.entries(tools));
