import type { Clock } from "../../base/clock.ts";
import { isSkillsError } from "../../errors.ts";
import type { Json, SkillCallFailure } from "../../sandbox/sandbox.ts";
import { maxNestedRuns, maxNesting } from "../plan/run-limits.ts";
import type { BlobBudget } from "../record/blob-budget.ts";
import type { RunStep } from "../run-event.ts";
import type { RunSpec } from "../run-spec.ts";
import type { EndedRun } from "../runs.ts";

/** What a run shares with those that it calls, and with those that called it. */
export interface Nesting {
  /** 1 for the outermost run. */
  readonly depth: number;
  /** Secrets of the runs around it: hidden in its output like its own. */
  readonly hidden: readonly string[];
  /** Shared by all depths. */
  readonly budget: BlobBudget;
  readonly deadline: number;
  readonly calls: { count: number };
}

/** A run that another run's code requests. */
export interface NestedCall {
  readonly runId: string;
  readonly skill: RunSpec["brokered"][number];
  readonly args: Json;
  readonly leftMs: number;
  readonly signal: AbortSignal;
}

/** A skill that code inside called did not complete; the sandbox raises it there as `SkillError`. */
class SkillCallError extends Error implements SkillCallFailure {
  override readonly name = "SkillCallError";
  readonly type: string;
  readonly runId?: string;

  constructor(type: string, message: string, runId?: string) {
    super(message);
    this.type = type;
    if (runId !== undefined) this.runId = runId;
  }
}

/** The skills that code inside a run calls, each in a sandbox of its own (CONTRACT C-5.5). */
export interface NestedRuns {
  readonly call: (name: string, args: Json, signal: AbortSignal) => Promise<Json>;
  /** Blobs that such runs stored so far. */
  readonly blobs: readonly string[];
}

export function createNestedRuns(options: {
  readonly spec: RunSpec;
  /** That of the runs that it calls. */
  readonly nesting: Nesting;
  readonly clock: Clock;
  readonly tell: (step: RunStep) => void;
  readonly newRunId: () => string;
  readonly run: (call: NestedCall) => Promise<EndedRun>;
}): NestedRuns {
  const { spec, nesting, clock, tell, newRunId, run } = options;
  const blobs: string[] = [];

  async function call(name: string, args: Json, signal: AbortSignal): Promise<Json> {
    const skill = spec.brokered.find((brokered) => brokered.name === name);
    if (skill === undefined)
      throw new SkillCallError(
        "SkillNotFoundError",
        `There is no skill ${JSON.stringify(name.slice(0, 128))} to call.`,
      );
    if (nesting.depth > maxNesting + 1)
      throw new SkillCallError("NestingLimitError", `Skill calls can be nested at most ${maxNesting} deep.`);
    if (++nesting.calls.count > maxNestedRuns)
      throw new SkillCallError("NestingLimitError", `A run can call at most ${maxNestedRuns} skills.`);
    const runId = newRunId();
    tell({ type: "skill_called", skill: skill.name, version: skill.version, calledRunId: runId });
    const leftMs = Math.max(1, nesting.deadline - clock.now());
    const { end, result, blobs: made } = await run({ runId, skill, args, leftMs, signal });
    blobs.push(...made);
    if (end.type === "returned") return end.value;
    const { type, message } = result.error ?? { type: "SkillError", message: result.summary };
    throw new SkillCallError(type, message, runId);
  }

  return {
    blobs,
    async call(name, args, signal) {
      try {
        return await call(name, args, signal);
      } catch (error) {
        // A refusal is told to the code inside as it would be to a model; everything else is ours to report.
        if (isSkillsError(error) && error.code !== "INTERNAL") throw new SkillCallError(error.code, error.message);
        throw error;
      }
    },
  };
}
