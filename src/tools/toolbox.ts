import type { BlobStore } from "../blobs/blob-store.ts";
import { isSkillsError, SkillsError } from "../errors.ts";
import { toInternalError } from "../base/internal-error.ts";
import type { Log } from "../base/log.ts";
import { asAvailable, nearest } from "../base/nearest.ts";
import { diskSkillFiles } from "../skills/files/disk-skill-files.ts";
import { checkInput } from "./input/check-input.ts";
import { diskSkillBytes } from "../skills/files/disk-skill-bytes.ts";
import { guideSkill, openGuides } from "./guide/guide.ts";
import type { Guide } from "./guide/guide.ts";
import { openSkillHasher } from "../skills/hash/hash-skill.ts";
import type { SkillHasher } from "../skills/hash/hash-skill.ts";
import { defaultLimits } from "./input/limits.ts";
import { projectFiles } from "./project/project-files.ts";
import { maxMountedBytes } from "../runs/plan/run-limits.ts";
import type { Runs } from "../runs/runs.ts";
import type { ToolLimits } from "./input/limits.ts";
import type { SkillSource } from "../skills/files/skill-files.ts";
import type { Skill } from "../skills/skill.ts";
import { viewSkills } from "./view/skill-view.ts";
import type { ToolName } from "./tool-names.ts";
import { cancelledEnding, endingOf, endingOfError, toToolUse, onSkillCalls } from "./answers/tool-use.ts";
import type { ToolUse } from "./answers/tool-use.ts";
import type { RunContext, Tool, ToolCaller } from "./tool.ts";
import { availableTools } from "./tools.ts";
import { toVisibleSource } from "./view/visible-source.ts";
import { visibleTo } from "./view/visible-to.ts";

export interface ToolboxOptions {
  readonly blobs: BlobStore;
  /** Reads the files of skills. Default: from disk. */
  readonly source?: SkillSource;
  /** Default: a new one. */
  readonly hasher?: SkillHasher;
  readonly log: Log;
  /** Without it, the tools that execute throw SANDBOX_UNAVAILABLE. */
  readonly runs?: Runs;
  /** Called once for each call, however it ended, for the ledger. */
  readonly onUse?: (use: ToolUse) => void;
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
  check(name: string, args: unknown, context: ToolCaller): Promise<unknown>;
}

const never = new AbortController().signal;

export function openToolbox(options: ToolboxOptions): Toolbox {
  const { blobs, log, runs, onUse, limits = defaultLimits, now = Date.now, newErrorId } = options;
  const source = options.source ?? { files: diskSkillFiles(), bytes: diskSkillBytes() };
  const hasher = options.hasher ?? openSkillHasher();
  const guideFor = openGuides(limits);

  function toRunContext(context: ToolCaller): RunContext {
    const { owner, door, sessionId, skills, tools: names, project, projectIdentity, label } = context;
    const { snapshot } = skills;
    const visible = visibleTo(door, snapshot, context.visible);
    const view = viewSkills(snapshot, visible);
    const guide = (): Guide => guideFor(availableTools(names).map((tool) => tool.name));
    const reportSkillCalls = onSkillCalls((skill, ending) =>
      report(toToolUse(now(), "execute_skill", context, skill, ending)),
    );
    let seen: SkillSource | undefined;
    const sourceOf: RunContext["sourceOf"] = (skill) =>
      skill === guideSkill.skill ? guide().source : (seen ??= toVisibleSource(source, snapshot, visible));
    return {
      owner,
      door,
      sessionId,
      label,
      skills: view,
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
      project,
      projectIdentity,
      projectFiles: () => {
        if (project !== undefined)
          return projectFiles(project, { identity: projectIdentity, keepOut: options.dataDirectory });
        const hint = "Open a session with a directory.";
        throw new SkillsError("PERMISSION_DENIED", "The session has no project directory.", { facts: { hint } });
      },
      onEvent: (event) => {
        reportSkillCalls(event);
        context.onEvent?.(event);
      },
    };
  }

  async function run(name: string, args: unknown, context: ToolCaller, signal: AbortSignal): Promise<unknown> {
    const tool = findTool(name, context.tools);
    const input = checkInput(tool, args);
    signal.throwIfAborted();
    await context.skills.ready;
    runs?.notice(context.skills.snapshot);
    signal.throwIfAborted();
    const { output, skill } = await tool.run(toRunContext(context), input, signal);
    checkOutput(tool, output);
    report(toToolUse(now(), tool.name, context, skill, endingOf(output)));
    return output;
  }

  /** The skill that a refused call names, if the caller sees it. */
  function skillNamed(args: unknown, { door, skills: { snapshot }, visible }: ToolCaller): Skill | undefined {
    const name = typeof args === "object" && args !== null && "name" in args ? args.name : undefined;
    if (typeof name !== "string") return undefined;
    try {
      return viewSkills(snapshot, visibleTo(door, snapshot, visible)).find(name).skill;
    } catch {
      return undefined; // Unknown.
    }
  }

  function report(use: ToolUse): void {
    try {
      onUse?.(use);
    } catch (error) {
      // The call does not fail because of the ledger.
      toInternalError(error, { log, newErrorId });
    }
  }

  async function check(name: string, args: unknown, context: ToolCaller): Promise<unknown> {
    const tool = findTool(name, context.tools);
    const input = checkInput(tool, args);
    await context.skills.ready;
    runs?.notice(context.skills.snapshot);
    return tool.check?.(toRunContext(context), input, never);
  }

  return {
    async check(name, args, context) {
      try {
        return await check(name, args, context);
      } catch (error) {
        throw toCallError(error, () => toInternalError(error, { log, newErrorId }), log);
      }
    },
    async call(name, args, context, signal = never) {
      try {
        return await run(name, args, context, signal);
      } catch (error) {
        const isUnknown = isSkillsError(error) && error.code === "SKILL_NOT_FOUND";
        const used = isUnknown ? undefined : skillNamed(args, context);
        if (signal.aborted) {
          report(toToolUse(now(), name, context, used, cancelledEnding));
          throw signal.reason;
        }
        const refusal = toCallError(error, () => toInternalError(error, { log, newErrorId }), log);
        report(toToolUse(now(), name, context, used, endingOfError(refusal)));
        throw refusal;
      }
    },
  };
}

function findTool(name: string, names: readonly ToolName[] | undefined): Tool {
  const available = availableTools(names);
  const tool = available.find((other) => other.name === name);
  if (tool !== undefined) return tool;
  const facts = {
    available: nearest(
      name,
      available.map((other) => other.name),
      asAvailable,
    ),
  };
  throw new SkillsError("METHOD_NOT_FOUND", `Unknown tool ${JSON.stringify(name.slice(0, 128))}.`, { facts });
}

function checkOutput({ name, output: schema }: Tool, output: unknown): void {
  const { error } = schema.safeParse(output);
  if (error !== undefined)
    throw new Error(`${name} returned a result that violates its output schema`, { cause: error });
}

/** The error for the caller: refusals of tools and blobs unchanged, everything else without details. */
function toCallError(error: unknown, toInternal: () => SkillsError, log: Log): SkillsError {
  if (!isSkillsError(error) || error.code === "INTERNAL") return toInternal();
  // The system's message, with its path, is for the user's log only.
  if (error.facts.limit === "disk") log("warning", `${error.message} ${String(error.cause)}`);
  if (error.code !== "UNREADABLE") return error;
  log("warning", error.message);
  const message = "The skill's files cannot be read.";
  return new SkillsError("SKILL_NOT_READY", message, { cause: error });
}
