import { attempt } from "../../base/failures/system-error.ts";
import { toInternalError } from "../../base/failures/internal-error.ts";
import type { Log } from "../../base/log.ts";
import { asAvailable, nearest } from "../../base/text/nearest.ts";
import type { BlobStore } from "../blobs.ts";
import { SkillsError, isSkillsError } from "../../base/errors.ts";
import { type LedgerEntry, whoAndWhere } from "../ledger.ts";
import { toTrustCaller, denied } from "../runs/authorize.ts";
import { maxMountedBytes } from "../runs/run-limits.ts";
import type { Replay } from "../runs/replay.ts";
import type { RunEvent, RunListener } from "../../wire/run-event.ts";
import { type Runs, toJudgedSkill } from "../runs.ts";
import type { SkillSource } from "../../skills/files.ts";
import { type SkillHasher, recordedDigest } from "../../skills/hash.ts";
import { openSignatures } from "../../skills/signature.ts";
import type { Skill } from "../../skills/skill.ts";
import type { Trust } from "../trust.ts";
import { createGuides, guideSkill } from "../caller/guide.ts";
import { inputFault } from "./toolbox/input-fault.ts";
import { projectFilesOf } from "./project-files.ts";
import type { RunContext, Tool, ToolCaller, UsedSkill } from "./tool.ts";
import { allTools, availableTools } from "../tools.ts";
import { type SeenSkills, isModelTransport, seeSkills } from "../caller/skill-view.ts";
import type { ToolName } from "../../wire/tools.ts";
import { type ToolLimits, defaultToolLimits } from "../blobs/blob-rules.ts";

export interface ToolboxOptions {
  readonly blobs: BlobStore;
  /** Reads the files of skills. */
  readonly source: SkillSource;
  readonly hasher: SkillHasher;
  readonly signatures?: RunContext["signatures"];
  readonly log: Log;
  readonly trust: Pick<Trust, "mayRead" | "policyFor">;
  /** Executes runs. Absent: the tools that execute throw SANDBOX_UNAVAILABLE. */
  readonly runs?: Runs;
  /** Called once for each call, however it ended, and for each skill that code inside a run called. */
  readonly onUse?: (use: LedgerEntry) => void;
  /** The data directory, whose files never belong to a project. */
  readonly dataDirectory?: string;
  /** The limits of the blob store. */
  readonly limits?: ToolLimits;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly newErrorId?: () => string;
}

/** The end of a call, as the ledger records it. */
type Ending = Pick<LedgerEntry, "outcome" | "code" | "runId" | "isolation" | "grant">;

interface Done<Output> {
  readonly output: Output;
  readonly ending: Ending;
  readonly skill?: UsedSkill | undefined;
}

const never = new AbortController().signal;

/** The meta-tools, the same for every transport. Each call is reported once, however it ended, and so are the skills that it called. */
export class Toolbox {
  readonly #options: ToolboxOptions;
  readonly #guideFor: ReturnType<typeof createGuides>;

  constructor(options: ToolboxOptions) {
    this.#options = options;
    this.#guideFor = createGuides(options.limits ?? defaultToolLimits);
  }

  /**
   * Calls a tool; the result is plain JSON, the same for every transport. Throws only SkillsErrors, or the reason of `signal` once it is
   * aborted. Internal failures are INTERNAL with an id; their details are in the log.
   */
  async call(name: string, args: unknown, caller: ToolCaller, signal = never): Promise<unknown> {
    return await this.#reported(name, caller, signal, askedIn(args), async (onEvent) => {
      const { tool, input, context } = await this.#prepare(name, args, caller, signal, onEvent);
      const { output, skill } = await tool.run(context, input, signal);
      checkOutput(tool, output);
      return { output, ending: endingOf(output), skill };
    });
  }

  /** Repeats a recorded run of any owner and compares, see `Runs`. For the user, never for models. Throws as `call` does. */
  async replay(runId: string, caller: ToolCaller, signal = never): Promise<Replay> {
    return await this.#reported("replay", caller, signal, undefined, async (onEvent) => {
      const context = await this.#openContext(caller, signal, onEvent);
      const output = await context.runs().replay(runId, context, signal);
      return { output, ending: endingOf(output.result), skill: output.spec.skill };
    });
  }

  /** Returns what a call of a tool that executes would do, without doing it. Throws as `call` would before the run starts. */
  async check(name: string, args: unknown, caller: ToolCaller): Promise<object | undefined> {
    try {
      const { tool, input, context } = await this.#prepare(name, args, caller, never, caller.onEvent);
      return await tool.check?.(context, input, never);
    } catch (error) {
      throw this.#toCallError(error);
    }
  }

  /** Throws PERMISSION_DENIED if the caller is a model that may not read this skill's instructions. For transports that show files. */
  async mayRead(skill: Skill, caller: ToolCaller, signal: AbortSignal): Promise<void> {
    try {
      await this.#toRunContext(caller, undefined).mayRead(skill, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#toCallError(error);
    }
  }

  /** Reports the end of `work`; `asked`: the skill name of the call. Throws the error of `work` for the caller, or the abort reason. */
  async #reported<Output>(
    name: string,
    caller: ToolCaller,
    signal: AbortSignal,
    asked: string | undefined,
    work: (onEvent: RunListener) => Promise<Done<Output>>,
  ): Promise<Output> {
    let run: Ending = {};
    const onEvent: RunListener = (event) => {
      // The first event is of the run itself, not of a skill that it calls.
      run = { runId: event.runId, ...run };
      if (event.runId === run.runId) run = { ...run, ...startOf(event) };
      caller.onEvent?.(event);
    };
    try {
      const { output, ending, skill } = await work(onEvent);
      this.#report(caller, name, { ...run, ...ending }, skill);
      return output;
    } catch (error) {
      const isUnknown = isSkillsError(error, "SKILL_NOT_FOUND");
      const used = isUnknown || asked === undefined ? undefined : this.#skillNamed(asked, caller);
      const unseen = used === undefined && asked !== undefined ? { asked } : {};
      if (signal.aborted) {
        this.#report(caller, name, { ...cancelled, ...run, ...unseen }, used);
        throw signal.reason;
      }
      const refusal = this.#toCallError(error);
      const outcome = refusal.code === "INTERNAL" ? "failed" : "refused";
      this.#report(caller, name, { outcome, code: refusal.code, ...run, ...unseen }, used);
      throw refusal;
    }
  }

  #report(
    caller: ToolCaller,
    tool: string,
    ending: Ending & Pick<LedgerEntry, "asked">,
    skill: UsedSkill | undefined,
  ): void {
    const { onUse, now = Date.now } = this.#options;
    const { sessionId, subagent, transport } = caller;
    const digest = skill?.digest;
    const used = skill && { skill: skill.name, version: skill.version, ...(digest !== undefined && { digest }) };
    try {
      const session = { ...(sessionId !== undefined && { sessionId }), ...(subagent !== undefined && { subagent }) };
      onUse?.({ at: now(), tool, ...whoAndWhere(caller), ...used, ...ending, ...session, door: transport });
    } catch (error) {
      // The call does not fail because of the ledger.
      toInternalError(error, this.#options);
    }
  }

  /** Finds a tool, validates its input, and opens the context once the caller's skills are known. */
  async #prepare(
    name: string,
    args: unknown,
    caller: ToolCaller,
    signal: AbortSignal,
    onEvent: RunListener | undefined,
  ): Promise<{ readonly tool: Tool; readonly input: unknown; readonly context: RunContext }> {
    const tool = findTool(name, caller.tools);
    const { data: input, error } = tool.input.safeParse(args ?? {});
    if (error !== undefined || args === null) throw inputFault(tool, args, error?.issues ?? []);
    return { tool, input, context: await this.#openContext(caller, signal, onEvent) };
  }

  async #openContext(caller: ToolCaller, signal: AbortSignal, onEvent: RunListener | undefined): Promise<RunContext> {
    signal.throwIfAborted();
    await caller.skills.ready;
    signal.throwIfAborted();
    const { notice } = this.#options.runs ?? {};
    if (notice === undefined) return this.#toRunContext(caller, onEvent);
    // Grants are pinned to the skills that the call sees.
    const { snapshot } = caller.skills;
    const context = this.#toRunContext({ ...caller, skills: { snapshot } }, onEvent);
    await notice(snapshot, context);
    return context;
  }

  #toRunContext(caller: ToolCaller, onEvent: RunListener | undefined): RunContext {
    const { blobs, source, hasher, trust, runs, dataDirectory, limits = defaultToolLimits } = this.#options;
    const guide: RunContext["guide"] = () => this.#guideFor(availableTools(caller.tools).map(({ name }) => name));
    const reportSkillCalls = onSkillCalls((skill, ending) => this.#report(caller, "execute_skill", ending, skill));
    let seen: SeenSkills | undefined;
    // At most once, so that a call sees one state of the skills; never for calls that use none.
    const see = (): SeenSkills => (seen ??= seeSkills(caller, trust.policyFor(caller.project), source));
    const sourceOf: RunContext["sourceOf"] = (skill) => (skill === guideSkill.skill ? guide().source : see().source);
    return {
      ...caller,
      get skills() {
        return see().skills;
      },
      mayRead: async (skill, signal) => {
        if (!isModelTransport(caller.transport) || skill === guideSkill.skill) return;
        const judged = toJudgedSkill(skill, { skills: see().skills, sourceOf });
        const authorization = await trust.mayRead(judged, toTrustCaller(caller), signal);
        if (!authorization.allowed) throw denied(authorization);
      },
      digestOf: (skill, signal) => recordedDigest(hasher, sourceOf(skill), skill, signal),
      ...{ blobs, limits, guide, sourceOf, signatures: this.#options.signatures ?? openSignatures() },
      hashFiles: (skill, signal) =>
        hasher.hash(sourceOf(skill), skill.directory, signal, { maxBytes: maxMountedBytes }),
      runs: () => {
        if (runs === undefined) throw new SkillsError("SANDBOX_UNAVAILABLE", "Code execution is disabled.");
        return runs;
      },
      projectFiles: () => projectFilesOf(caller, dataDirectory),
      onEvent: (event) => {
        reportSkillCalls(event);
        onEvent?.(event);
      },
    };
  }

  /** Finds the skill of a name, if the caller sees it. */
  #skillNamed(name: string, caller: ToolCaller): Skill | undefined {
    return attempt(() => this.#toRunContext(caller, undefined).skills.find(name).skill, undefined);
  }

  /** Converts an error for the caller: refusals of tools and blobs stay unchanged, all others lose their details. */
  #toCallError(error: unknown): SkillsError {
    const { log } = this.#options;
    if (!isSkillsError(error) || error.code === "INTERNAL") return toInternalError(error, this.#options);
    // The system's message, with its path, is for the user's log only.
    if (error.facts.limit === "disk") log("warning", `${error.message} ${String(error.cause)}`);
    if (error.code !== "UNREADABLE") return error;
    log("warning", error.message);
    return new SkillsError("SKILL_NOT_READY", "The skill's files cannot be read.", { cause: error });
  }
}

/** Returns the skill name in the arguments of a call. */
function askedIn(args: unknown): string | undefined {
  const name = typeof args === "object" && args !== null && "name" in args ? args.name : undefined;
  return typeof name === "string" ? name : undefined;
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

const cancelled: Ending = { outcome: "failed", code: "CANCELLED" };

/** Returns the outcome of a call that returned: a result with `status: "failed"` means that the run failed. */
function endingOf(output: unknown): Ending {
  const { status, run_id: runId, error } = output as Partial<Record<string, unknown>>;
  const run = typeof runId === "string" ? { runId } : {};
  if (status !== "failed") return { outcome: "completed", ...run };
  const { code, type } = (error ?? {}) as Partial<Record<string, unknown>>;
  const why = code ?? type;
  return { outcome: "failed", ...(typeof why === "string" && { code: why }), ...run };
}

/** Returns the isolation and the grant from the start of a run; nothing from other events. */
function startOf(event: RunEvent): Pick<Ending, "isolation" | "grant"> {
  if (event.type !== "started") return {};
  return { isolation: event.isolation, ...(event.by !== undefined && { grant: event.by }) };
}

/** Creates a listener that reports each skill that code inside a run called, once the run of that skill has ended. */
export function onSkillCalls(report: (skill: UsedSkill, ending: Ending) => void): RunListener {
  const called = new Map<string, { readonly skill: UsedSkill; readonly start?: Ending }>();
  return (event) => {
    if (event.type === "skill_called") {
      const { skill: name, version, digest } = event;
      called.set(event.calledRunId, { skill: { name, version, digest } });
    }
    const { skill, start } = called.get(event.runId) ?? {};
    if (skill === undefined) return;
    const { runId } = event;
    if (event.type === "started") called.set(runId, { skill, start: startOf(event) });
    if (event.type !== "ended") return;
    called.delete(runId);
    report(skill, { ...(event.status === "cancelled" ? cancelled : { outcome: event.status }), runId, ...start });
  };
}
