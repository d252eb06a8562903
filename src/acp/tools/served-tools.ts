import type { ToolName } from "../../tools/tool-names.ts";

/** What this door knows of a tool without loading it: the tools bring zod with them, and an agent must start without delay. */
interface ServedTool {
  /** As our MCP server titles it, for agents that show that instead of its name. */
  readonly title: string;
  /** It changes nothing, so that the agent need not ask for permission. */
  readonly readOnly: boolean;
  readonly parameters: readonly string[];
  /** It runs code, and takes as long as that. */
  readonly executes?: true;
}

const tools = {
  list_skills: {
    title: "List skills",
    readOnly: true,
    parameters: ["namespace", "detail", "limit", "cursor", "query"],
  },
  describe_skill: { title: "Describe a skill", readOnly: true, parameters: ["name", "version", "detail"] },
  read_skill_file: { title: "Read a skill's file", readOnly: true, parameters: ["name", "path", "version"] },
  execute_skill: {
    title: "Execute a skill",
    readOnly: false,
    parameters: ["name", "version", "args", "input_blobs", "timeout_ms", "script"],
    executes: true,
  },
  run_code: {
    title: "Run code",
    readOnly: false,
    parameters: ["language", "code", "entrypoint", "args", "mount_skills", "input_blobs", "limits"],
    executes: true,
  },
  create_blob: { title: "Create a blob", readOnly: false, parameters: ["content", "kind", "path"] },
  read_blob: {
    title: "Read a blob",
    readOnly: false,
    parameters: ["blob_id", "mode", "max_bytes", "save_as", "overwrite"],
  },
  load_skills_protocol_guide: { title: "Load the Skills Protocol guide", readOnly: true, parameters: [] },
} as const satisfies Record<ToolName, ServedTool>;

/** The tools that are served, in the order in which they are listed. */
export const servedTools: ReadonlyMap<string, ServedTool> = new Map(Object.entries(tools));
