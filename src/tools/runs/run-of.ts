import { SkillsError } from "../../errors.ts";
import type { RunContext } from "../tool.ts";
import type { Arguments } from "./check-args.ts";
import { planSkillRun } from "./plan-skill-run.ts";
import type { RunPlan } from "./run-plan.ts";
import type { RunResult } from "./run-result.ts";
import type { RunCaller } from "./runs.ts";

/** Carries a plan out for the caller of a tool. */
export async function runOf(context: RunContext, plan: RunPlan, signal: AbortSignal): Promise<RunResult> {
  const { runs } = context;
  if (runs === undefined) throw new SkillsError("SANDBOX_UNAVAILABLE", "Nothing is run here.");
  return await runs.run(plan, toCaller(context), signal);
}

/** Who asks for a run, for the rooms that carry it out. */
export function toCaller(context: RunContext): RunCaller {
  const { owner, blobs, sourceOf, project, onPrint, onNested } = context;
  return {
    owner,
    blobs,
    sourceOf,
    ...(project !== undefined && { project }),
    ...(onPrint !== undefined && { onPrint }),
    ...(onNested !== undefined && { onNested }),
    planSkill: (skill, args, leftMs) => planSkillRun(context, skill, { args: args as Arguments, leftMs }),
  };
}
