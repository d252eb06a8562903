export type Transport = "mcp" | "acp" | "http" | "in-process" | "cli" | "browser";

/** MCP's hints about a tool. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** The facts about a tool that are known without loading it: tools import zod, which would delay the start of an agent. */
interface ToolFacts {
  /** The title in the MCP server, for agents that show the title instead of the name. */
  readonly title: string;
  /** The hints. An agent need not ask for permission for a tool that only reads. */
  readonly annotations: ToolAnnotations;
  readonly parameters: readonly string[];
  /** Set if the tool runs code, which may take long. */
  readonly executes?: true;
}

const reads = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

const adds = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false };

/** The eight meta-tools, in the order in which they are listed. */
const tools = {
  list_skills: {
    title: "List skills",
    annotations: reads,
    parameters: ["namespace", "detail", "limit", "cursor", "query"],
  },
  describe_skill: { title: "Describe a skill", annotations: reads, parameters: ["name", "version", "detail"] },
  read_skill_file: { title: "Read a skill's file", annotations: reads, parameters: ["name", "path", "version"] },
  execute_skill: {
    title: "Execute a skill",
    annotations: { ...adds, destructiveHint: true, openWorldHint: true },
    parameters: ["name", "version", "args", "input_blobs", "timeout_ms", "script"],
    executes: true,
  },
  run_code: {
    title: "Run code",
    annotations: adds,
    parameters: ["language", "code", "entrypoint", "args", "mount_skills", "input_blobs", "limits"],
    executes: true,
  },
  create_blob: { title: "Create a blob", annotations: adds, parameters: ["content", "kind", "path"] },
  read_blob: {
    title: "Read a blob",
    // With save_as it writes a file, so a client that decides by these hints has to ask.
    annotations: { ...reads, readOnlyHint: false, destructiveHint: true },
    parameters: ["blob_id", "mode", "max_bytes", "save_as", "overwrite"],
  },
  load_skills_protocol_guide: { title: "Load the Skills Protocol guide", annotations: reads, parameters: [] },
} as const satisfies Record<string, ToolFacts>;

export type ToolName = keyof typeof tools;

export const toolNames = Object.keys(tools) as readonly ToolName[];

export const toolFacts: Readonly<Record<ToolName, ToolFacts>> = tools;

/** The facts of tools by name; accepts unknown names. */
export const servedTools: ReadonlyMap<string, ToolFacts> = new Map(Object.entries(tools));

/** Limits of `list_skills`. */
export const defaultPageSize = 50;

export const maxPageSize = 200;

export const maxRowTags = 20;

export const maxQueryLength = 256;

/** Limits of `describe_skill`. */
export const maxListedVersions = 20;

export const maxListedFiles = 512;

/** Limits of `read_skill_file` in bytes: of a file in one reply, and of the whole file. */
export const maxReplyBytes = 256 * 1024;

export const maxReadFileBytes = 16 * 1024 * 1024;

/** Limits of previews of blobs. */
export const defaultPreviewBytes = 2000;

export const maxBlobPreviewBytes = 1024 * 1024;
