import type * as z from "zod";
import type { Skill, Snapshot } from "../../skills/skill.ts";
import type { Guide } from "../caller/guide.ts";
import type { Requester, RunCaller } from "../runs/run-caller.ts";
import type { Runs } from "../runs.ts";
import type { ProjectFiles } from "./project-files.ts";
import type { SkillView } from "../caller/skill-view.ts";
import type { Transport, ToolName } from "../../wire/tools.ts";
import type { ToolLimits } from "../blobs/blob-rules.ts";

/** The caller of a tool, and what it may see and use. */
export interface ToolCaller extends Requester {
  readonly transport: Transport;
  /** The skills of the caller's session; a call awaits `ready` first. A catalog satisfies this. */
  readonly skills: { readonly snapshot: Snapshot; readonly ready?: Promise<unknown> };
  /** Whether a version exists for the caller. Default: all exist. Must not throw. */
  readonly visible?: ((skill: Skill) => boolean) | undefined;
  /** The tools that the caller has; others do not exist for it. Default: all. */
  readonly tools?: readonly ToolName[] | undefined;
  /** The digest of the skill that the caller was shown; `execute_skill` throws SKILL_NOT_READY for others. Default: any digest. */
  readonly digest?: string | undefined;
}

/** The services and facts that a tool uses during one call. */
export interface RunContext extends RunCaller {
  readonly digest?: ToolCaller["digest"];
  /** The skills that the caller sees, computed at the first access, which tools without skills never make. */
  readonly skills: SkillView;
  readonly limits: ToolLimits;
  /** Throws PERMISSION_DENIED if the caller is a model and may not read this skill's instructions. */
  readonly mayRead: (skill: Skill, signal: AbortSignal) => Promise<void>;
  /** Computes the digest of a skill's files for the ledger; undefined if that takes long or is not possible. */
  readonly digestOf: (skill: Skill, signal: AbortSignal) => Promise<string | undefined>;
  /** The guide for this caller. */
  readonly guide: () => Guide;
  /** Throws SANDBOX_UNAVAILABLE if code execution is disabled. */
  readonly runs: () => Runs;
  /** Throws PERMISSION_DENIED if the session has no project directory. */
  readonly projectFiles: () => ProjectFiles;
}

interface ToolOutcome<Output> {
  readonly output: Output;
  readonly skill?: UsedSkill | undefined;
}

/** The skill that a call used, for the ledger; with the digest of its files if they were read. */
export type UsedSkill = Pick<Skill, "name" | "version"> & { readonly digest?: string | undefined };

/** A tool. The types of `run` follow from its schemas. */
export interface Tool<Input = unknown, Output = unknown, Given = unknown> {
  readonly name: ToolName;
  /** For the model. */
  readonly description: string;
  /** Validates the input and fills in defaults. */
  readonly input: z.ZodType<Input, Given>;
  readonly output: z.ZodType<Output>;
  /** Returns what `run` would do, without doing it; for tools that execute. */
  check?(context: RunContext, input: NoInfer<Input>, signal: AbortSignal): Promise<object>;
  run(
    context: RunContext,
    input: NoInfer<Input>,
    signal: AbortSignal,
  ): ToolOutcome<NoInfer<Output>> | Promise<ToolOutcome<NoInfer<Output>>>;
}

/** Returns its argument, whose types follow from its schemas. */
export function defineTool<Input, Output, Given>(tool: Tool<Input, Output, Given>): Tool<Input, Output, Given> {
  return tool;
}
