import { attempt } from "../../base/failures/system-error.ts";
import { toInternalError } from "../../base/failures/internal-error.ts";
import type { Log } from "../../base/log.ts";
import { asAvailable, nearest } from "../../base/text/nearest.ts";
import type { BlobStore } from "../blobs.ts";
import { SkillsError, isSkillsError } from "../../base/errors.ts";
import type { LedgerEntry } from "../ledger.ts";
import { askerOf, denied } from "../runs/authorize.ts";
import { maxMountedBytes } from "../runs/run-limits.ts";
import type { Replay } from "../runs/replay.ts";
import type { RunListener } from "../../wire/run-event.ts";
import { type Runs, subjectOf } from "../runs.ts";
import type { SkillSource } from "../../skills/files.ts";
import { type SkillHasher, recordedDigest } from "../../skills/hash.ts";
import type { Skill } from "../../skills/skill.ts";
import type { Trust } from "../trust.ts";
import { type Guide, createGuides, guideSkill } from "../caller/guide.ts";
import { inputFault } from "./toolbox/input-fault.ts";
import { type ProjectFiles, projectFiles } from "./project-files.ts";
import { createCallReporter, endingOf } from "./toolbox/report-calls.ts";
import type { RunContext, Tool, ToolCaller } from "./tool.ts";
import { allTools, availableTools } from "../tools.ts";
import { isDoorOfModels, toVisibleSource, viewSkills, visibleTo } from "../caller/skill-view.ts";
import type { ToolName } from "../../wire/tools.ts";
import { type ToolLimits, defaultToolLimits } from "../blobs/blob-rules.ts";

export interface ToolboxOptions {
  readonly blobs: BlobStore;
  /** Reads the files of skills. */
  readonly source: SkillSource;
  readonly hasher: SkillHasher;
  readonly log: Log;
  readonly trust: Pick<Trust, "mayRead" | "policyFor">;
  /** Without it, the tools that execute throw SANDBOX_UNAVAILABLE. */
  readonly runs?: Runs;
  /** Called once for each call, however it ended, and for each skill that code inside a run called. */
  readonly onUse?: (use: LedgerEntry) => void;
  /** Our data directory, whose files are never part of a project. */
  readonly dataDirectory?: string;
  /** The limits of the blob store. */
  readonly limits?: ToolLimits;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly newErrorId?: () => string;
}

/** The meta-tools, independent of any door. */
export interface Toolbox {
  /**
   * Calls a tool; the result is plain JSON, the same through every door. Throws only SkillsErrors, or the reason of `signal` once that is
   * aborted. Our own failures are INTERNAL with an id; their details are in the log.
   */
  call(name: string, args: unknown, context: ToolCaller, signal?: AbortSignal): Promise<unknown>;
  /** What a call of a tool that executes would do, without doing it. Throws as `call` would before the run starts. */
  check(name: string, args: unknown, context: ToolCaller): Promise<object | undefined>;
  /** Throws PERMISSION_DENIED if the caller is a model and may not read this skill's instructions, for doors that show files otherwise. */
  mayRead(skill: Skill, context: ToolCaller, signal: AbortSignal): Promise<void>;
  /** Runs a recorded run of any owner again and compares, see `Runs`. For people only. Throws as `call` does. */
  replay(runId: string, context: ToolCaller, signal?: AbortSignal): Promise<Replay>;
}

const never = new AbortController().signal;

export function createToolbox(options: ToolboxOptions): Toolbox {
  const { blobs, source, hasher, log, trust, runs, limits = defaultToolLimits, now = Date.now } = options;
  const guideFor = createGuides(limits);
  const toInternal = (error: unknown): SkillsError => toInternalError(error, { log, newErrorId: options.newErrorId });

  function toRunContext(caller: ToolCaller, onEvent: RunListener | undefined): RunContext {
    const visible = visibleIn(caller, trust);
    const guide = (): Guide => guideFor(availableTools(caller.tools).map(({ name }) => name));
    const reportSkillCalls = reporter.skillCalls(caller);
    let seen: SkillSource | undefined;
    const { snapshot } = caller.skills;
    const sourceOf: RunContext["sourceOf"] = (skill) =>
      skill === guideSkill.skill ? guide().source : (seen ??= toVisibleSource(source, snapshot, visible));
    const view = viewSkills(snapshot, visible);
    return {
      ...caller,
      skills: view,
      mayRead: async (skill, signal) => {
        if (!isDoorOfModels(caller.door) || skill === guideSkill.skill) return;
        const authorization = await trust.mayRead(
          subjectOf(skill, { skills: view, sourceOf }),
          askerOf(caller),
          signal,
        );
        if (!authorization.allowed) throw denied(authorization);
      },
      digestOf: (skill, signal) => recordedDigest(hasher, sourceOf(skill), skill, signal),
      blobs,
      limits,
      guide,
      sourceOf,
      hashFiles: (skill, signal) =>
        hasher.hash(sourceOf(skill), skill.directory, signal, { maxBytes: maxMountedBytes }),
      runs: () => {
        if (runs === undefined) throw new SkillsError("SANDBOX_UNAVAILABLE", "Code execution is disabled.");
        return runs;
      },
      projectFiles: () => filesOf(caller, options.dataDirectory),
      onEvent: (event) => {
        reportSkillCalls(event);
        onEvent?.(event);
      },
    };
  }

  /** A tool, its validated input, and what it works with once the caller's skills are known. */
  async function prepare(
    name: string,
    args: unknown,
    caller: ToolCaller,
    signal: AbortSignal,
    onEvent = caller.onEvent,
  ): Promise<{ readonly tool: Tool; readonly input: unknown; readonly context: RunContext }> {
    const tool = findTool(name, caller.tools);
    const { data: input, error } = tool.input.safeParse(args ?? {});
    if (error !== undefined || args === null) throw inputFault(tool, args, error?.issues ?? []);
    return { tool, input, context: await openContext(caller, signal, onEvent) };
  }

  async function openContext(caller: ToolCaller, signal: AbortSignal, onEvent: RunListener | undefined) {
    signal.throwIfAborted();
    await caller.skills.ready;
    signal.throwIfAborted();
    const context = toRunContext(caller, onEvent);
    await runs?.notice?.(caller.skills.snapshot, context);
    return context;
  }

  /** The error for the caller: refusals of tools and blobs unchanged, everything else without details. */
  function toCallError(error: unknown): SkillsError {
    if (!isSkillsError(error) || error.code === "INTERNAL") return toInternal(error);
    // The system's message, with its path, is for the user's log only.
    if (error.facts.limit === "disk") log("warning", `${error.message} ${String(error.cause)}`);
    if (error.code !== "UNREADABLE") return error;
    log("warning", error.message);
    return new SkillsError("SKILL_NOT_READY", "The skill's files cannot be read.", { cause: error });
  }

  const reporter = createCallReporter({ onUse: options.onUse, now, failed: toInternal, toCallError });

  return {
    async mayRead(skill, caller, signal) {
      try {
        await toRunContext(caller, undefined).mayRead(skill, signal);
      } catch (error) {
        signal.throwIfAborted();
        throw toCallError(error);
      }
    },
    async check(name, args, caller) {
      try {
        const { tool, input, context } = await prepare(name, args, caller, never);
        return await tool.check?.(context, input, never);
      } catch (error) {
        throw toCallError(error);
      }
    },
    call: async (name, args, caller, signal = never) =>
      await reporter.reported(
        { name, caller, signal, asked: askedIn(args), named: (asked) => skillNamed(asked, caller, trust) },
        async (onEvent) => {
          const { tool, input, context } = await prepare(name, args, caller, signal, onEvent);
          const { output, skill } = await tool.run(context, input, signal);
          checkOutput(tool, output);
          return { output, ending: endingOf(output), skill };
        },
      ),
    replay: async (runId, caller, signal = never) =>
      await reporter.reported(
        { name: "replay", caller, signal, asked: undefined, named: () => undefined },
        async (onEvent) => {
          const context = await openContext(caller, signal, onEvent);
          const output = await context.runs().replay(runId, context, signal);
          return { output, ending: endingOf(output.result), skill: output.spec.skill };
        },
      ),
  };
}

/** Throws PERMISSION_DENIED if the session has no directory. */
function filesOf({ project, projectIdentity }: ToolCaller, keepOut: string | undefined): ProjectFiles {
  if (project !== undefined) return projectFiles(project, { identity: projectIdentity, keepOut });
  const hint = "Open a session with a directory.";
  throw new SkillsError("PERMISSION_DENIED", "The session has no project directory.", { facts: { hint } });
}

/** Which versions of skills the caller sees now. */
function visibleIn({ door, skills, visible, project }: ToolCaller, trust: ToolboxOptions["trust"]) {
  return visibleTo(door, skills.snapshot, { visible, policy: trust.policyFor(project) });
}

/** The name that a call asks for. */
function askedIn(args: unknown): string | undefined {
  const name = typeof args === "object" && args !== null && "name" in args ? args.name : undefined;
  return typeof name === "string" ? name : undefined;
}

/** The skill of a name, if the caller sees it. */
function skillNamed(name: string, caller: ToolCaller, trust: ToolboxOptions["trust"]): Skill | undefined {
  return attempt(() => viewSkills(caller.skills.snapshot, visibleIn(caller, trust)).find(name).skill, undefined);
}

function findTool(name: string, tools: readonly ToolName[] | undefined): Tool {
  const tool = allTools.find((other) => other.name === name);
  if (tool !== undefined && tools?.includes(tool.name) !== false) return tool;
  const names = availableTools(tools).map((other) => other.name);
  const facts = { available: nearest(name, names, asAvailable) };
  throw new SkillsError("METHOD_NOT_FOUND", `Unknown tool ${JSON.stringify(name.slice(0, 128))}.`, { facts });
}

function checkOutput({ name, output: schema }: Tool, output: unknown): void {
  const { error } = schema.safeParse(output);
  if (error !== undefined)
    throw new Error(`${name} returned a result that violates its output schema`, { cause: error });
}
