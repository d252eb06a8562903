/** The metadata of a tool that is needed without loading it: tools import zod, which would delay the start of an agent. */
interface ToolFacts {
  /** As our MCP server titles it, for agents that show the title instead of the name. */
  readonly title: string;
  /** It changes nothing, so that the agent need not ask for permission. */
  readonly readOnly: boolean;
  readonly parameters: readonly string[];
  /** It runs code, and may take long. */
  readonly executes?: true;
}

/** The eight meta-tools (CONTRACT C-2.1), in the order in which they are listed. */
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
} as const satisfies Record<string, ToolFacts>;

export type ToolName = keyof typeof tools;

export const toolNames = Object.keys(tools) as readonly ToolName[];

export const toolFacts: Readonly<Record<ToolName, ToolFacts>> = tools;

/** The metadata by name; accepts unknown names. */
export const servedTools: ReadonlyMap<string, ToolFacts> = new Map(Object.entries(tools));
