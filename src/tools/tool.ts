import type * as z from "zod";
import type { DirectoryIdentity } from "../base/paths/directory-identity.ts";
import type { Skill, Snapshot } from "../skills/skill.ts";
import type { Guide } from "./guide/guide.ts";
import type { RunCaller } from "../runs/run-caller.ts";
import type { RunListener } from "../runs/run-event.ts";
import type { Runs } from "../runs/runs.ts";
import type { ProjectFiles } from "./project/project-files.ts";
import type { ToolLimits } from "./input/limits.ts";
import type { SkillView } from "./view/skill-view.ts";
import type { ToolName } from "./tool-names.ts";

export type Door = "mcp" | "acp" | "http" | "in-process" | "cli";

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
}

/** What a tool works with during one call. */
export interface RunContext extends RunCaller {
  readonly skills: SkillView;
  readonly limits: ToolLimits;
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

/** A tool that only reads. */
export const readOnly: ToolAnnotations = Object.freeze({
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
});

interface ToolOutcome<Output> {
  readonly output: Output;
  /** The skill that was used, for the ledger. */
  readonly skill?: Skill;
}

interface ToolFacts<Input, Output, Given> {
  readonly name: ToolName;
  /** For the model. */
  readonly description: string;
  /** Validates the input and fills in defaults. */
  readonly input: z.ZodType<Input, Given>;
  readonly output: z.ZodType<Output>;
  readonly annotations: ToolAnnotations;
}

interface ToolWork<Input, Output> {
  /** Returns what `run` would do, without doing it; for tools that execute. */
  check?(context: RunContext, input: Input, signal: AbortSignal): Promise<unknown>;
  run(context: RunContext, input: Input, signal: AbortSignal): ToolOutcome<Output> | Promise<ToolOutcome<Output>>;
}

export interface Tool<Input = unknown, Output = unknown, Given = unknown>
  extends ToolFacts<Input, Output, Given>, ToolWork<Input, Output> {}

/** Returns its argument; infers the parameter and result types of `run` from the schemas. */
export function defineTool<Input, Output, Given>(
  tool: ToolFacts<Input, Output, Given> & ToolWork<NoInfer<Input>, NoInfer<Output>>,
): Tool<Input, Output, Given> {
  return tool;
}
