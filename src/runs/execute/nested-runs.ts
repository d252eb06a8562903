import type { Clock } from "../../base/clock.ts";
import { isSkillsError } from "../../errors.ts";
import type { Json } from "../../sandbox/sandbox.ts";
import type { BlobBudget } from "./blob-budget.ts";
import { SkillCallError } from "./skill-call-error.ts";
import { maxNestedRuns, maxNesting } from "../plan/run-limits.ts";
import type { RunPlan } from "../plan/run-plan.ts";
import type { EndedRun, RunCaller } from "../runs.ts";

/** The skills that code inside a run calls, each in a sandbox of its own (CONTRACT C-5.5). */
export interface NestedRuns {
  /** `hidden`: values that the caller has been trusted with, and may hand on. */
  readonly call: (name: string, args: Json, signal: AbortSignal, hidden: readonly string[]) => Promise<Json>;
  /** Blobs that such runs made, so far. */
  readonly blobs: () => readonly string[];
}

export interface NestingOptions {
  readonly plan: RunPlan;
  readonly caller: RunCaller;
  readonly clock: Clock;
  /** Of the outermost run: the blobs of all depths are its own. */
  readonly budget: BlobBudget;
  readonly run: (plan: RunPlan, caller: RunCaller, signal: AbortSignal, nesting: Nesting) => Promise<EndedRun>;
}

/** What a run has of those around it. */
export interface Nesting {
  readonly nested: NestedRuns;
  /** Secrets of theirs: shown no more than its own. */
  readonly hidden: readonly string[];
  readonly budget: BlobBudget;
}

/** What all depths of one run share. */
interface Budget {
  runs: number;
  readonly deadline: number;
}

export function openNestedRuns(options: NestingOptions): NestedRuns {
  const budget = { runs: 0, deadline: options.clock.now() + options.plan.limits.timeoutMs };
  return atDepth(options, options.plan, 1, budget);
}

function atDepth(options: NestingOptions, plan: RunPlan, depth: number, budget: Budget): NestedRuns {
  const { caller, clock, run, budget: blobBudget } = options;
  const made: string[] = [];

  const call: NestedRuns["call"] = async (name, args, signal, hidden) => {
    const skill = plan.brokered.find((brokered) => brokered.name === name);
    if (skill === undefined)
      throw new SkillCallError(
        "SkillNotFoundError",
        `There is no skill ${JSON.stringify(name.slice(0, 128))} to call.`,
      );
    if (depth > maxNesting)
      throw new SkillCallError("NestingLimitError", `Skills call one another at most ${maxNesting} deep.`);
    if (++budget.runs > maxNestedRuns)
      throw new SkillCallError("NestingLimitError", `One run calls at most ${maxNestedRuns} skills.`);
    caller.onNested?.(skill);
    const inner = await caller.planSkill(skill, args, Math.max(1, budget.deadline - clock.now()));
    const below = atDepth(options, inner, depth + 1, budget);
    const nesting = { nested: below, hidden, budget: blobBudget };
    const { runId, end, result, blobs } = await run(inner, caller, signal, nesting);
    made.push(...blobs);
    if (end.type === "returned") return end.value;
    const { type, message } = result.error ?? { type: "SkillError", message: result.summary };
    throw new SkillCallError(type, message, runId);
  };

  return {
    async call(name, args, signal, hidden) {
      try {
        return await call(name, args, signal, hidden);
      } catch (error) {
        // A refusal is told to the code inside as it would be to a model; everything else is ours to report.
        if (isSkillsError(error) && error.code !== "INTERNAL") throw new SkillCallError(error.code, error.message);
        throw error;
      }
    },
    blobs: () => made,
  };
}
