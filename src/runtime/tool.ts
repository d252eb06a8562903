import type * as z from "zod";
import type { DirectoryIdentity } from "../base/paths/directory-identity.ts";
import type { Skill, Snapshot } from "../skills/skill.ts";
import type { Guide } from "./tools/guide/guide.ts";
import type { RunCaller } from "./runs/run-caller.ts";
import type { RunListener } from "./run-event.ts";
import type { Runs } from "./runs.ts";
import type { Ask } from "./question.ts";
import type { ConfiguredGrants } from "./trust/grants/configured-grants.ts";
import type { ProjectFiles } from "./tools/project-files.ts";
import type { ToolLimits } from "./tools/input/limits.ts";
import type { SkillView } from "./tools/view/skill-view.ts";

export type Door = "mcp" | "acp" | "http" | "in-process" | "cli" | "browser";

/** The caller of a tool, and what it may see and use. */
export interface ToolCaller {
  readonly door: Door;
  readonly sessionId?: string | undefined;
  /** The owner of the blobs that the caller reads and writes. */
  readonly owner: string;
  /** A label for the caller, such as the agent's name. */
  readonly label?: string;
  /** The skills of the caller's session; a call awaits `ready` first. A catalog satisfies this. */
  readonly skills: { readonly snapshot: Snapshot; readonly ready?: Promise<unknown> };
  /** A version for which this returns false does not exist for the caller. Default: all exist. Must not throw. */
  readonly visible?: (skill: Skill) => boolean;
  /** The tools this caller has; others do not exist for the caller. Default: all. */
  readonly tools?: readonly ToolName[];
  /** The session's directory: what a skill with permission for the project works on. */
  readonly project?: string;
  /** The identity of that directory when the session was opened. Default: the directory at the time of use. */
  readonly projectIdentity?: DirectoryIdentity | undefined;
  /** Gets the events of the caller's runs. */
  readonly onEvent?: RunListener;
  /** Asks the person whom the caller works for. Absent: there is nobody. */
  readonly ask?: Ask | undefined;
  /** What a remote caller was granted: instead of the approvals of this machine's user. */
  readonly grants?: ConfiguredGrants;
  /** Names of the secrets that its runs may get. Default: all that this machine has. */
  readonly secrets?: readonly string[];
  /** The bytes that `execute_skill` must run, as the caller was shown them. Of others, it throws SKILL_NOT_READY. Default: any. */
  readonly digest?: string;
}

/** What a tool works with during one call. */
export interface RunContext extends RunCaller {
  readonly digest: ToolCaller["digest"];
  readonly skills: SkillView;
  readonly limits: ToolLimits;
  /** Throws PERMISSION_DENIED if the caller is a model and may not read this skill's instructions. */
  readonly mayRead: (skill: Skill, signal: AbortSignal) => Promise<void>;
  /** The guide for this caller. */
  readonly guide: () => Guide;
  /** Throws SANDBOX_UNAVAILABLE if code execution is disabled. */
  readonly runs: () => Runs;
  /** Throws PERMISSION_DENIED if the session has no project directory. */
  readonly projectFiles: () => ProjectFiles;
}

/** MCP's hints about a tool. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** What is known of a tool without loading it: tools import zod, which would delay the start of an agent. */
interface ToolFacts {
  /** As our MCP server titles it, for agents that show the title instead of the name. */
  readonly title: string;
  /** An agent need not ask for permission for a tool that only reads. */
  readonly annotations: ToolAnnotations;
  readonly parameters: readonly string[];
  /** It runs code, and may take long. */
  readonly executes?: true;
}

const reads = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const adds = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false };

/** The eight meta-tools (CONTRACT C-2.1), in the order in which they are listed. */
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

/** The same by name; accepts unknown names. */
export const servedTools: ReadonlyMap<string, ToolFacts> = new Map(Object.entries(tools));

interface ToolOutcome<Output> {
  readonly output: Output;
  readonly skill?: UsedSkill | undefined;
}

/** The skill that a call used, for the ledger; with the digest of its files if they were read. */
export type UsedSkill = Pick<Skill, "name" | "version"> & { readonly digest?: string };

/** A tool. The types of `run` follow from its schemas. */
export interface Tool<Input = unknown, Output = unknown, Given = unknown> {
  readonly name: ToolName;
  /** For the model. */
  readonly description: string;
  /** Validates the input and fills in defaults. */
  readonly input: z.ZodType<Input, Given>;
  readonly output: z.ZodType<Output>;
  /** Returns what `run` would do, without doing it; for tools that execute. */
  check?(context: RunContext, input: NoInfer<Input>, signal: AbortSignal): Promise<unknown>;
  run(
    context: RunContext,
    input: NoInfer<Input>,
    signal: AbortSignal,
  ): ToolOutcome<NoInfer<Output>> | Promise<ToolOutcome<NoInfer<Output>>>;
}

/** Returns its argument. */
export function defineTool<Input, Output, Given>(tool: Tool<Input, Output, Given>): Tool<Input, Output, Given> {
  return tool;
}
