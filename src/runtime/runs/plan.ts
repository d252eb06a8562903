import type { Json } from "../sandbox.ts";
import type { RunCaller } from "./run-caller.ts";
export { isDeclared, planCodeRun, skillChanged } from "./plan/plan-run.ts";
export { type CalledSkill, type SkillRunRequest, callsOf, planSkillRun } from "./plan/plan-skill-run.ts";

export type RunArguments = Readonly<Record<string, Json>>;

/** The fields that all requests have. */
export interface RequestedLimits {
  readonly inputBlobs?: readonly string[] | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface CodeRunRequest extends RequestedLimits {
  readonly code: string;
  readonly entrypoint: string;
  readonly args?: RunArguments | undefined;
  readonly mountSkills?: readonly string[] | undefined;
}

/** The id, the caller and the abort signal of a run that is planned. */
export interface Planning {
  readonly runId: string;
  readonly caller: RunCaller;
  readonly signal: AbortSignal;
  /** The run whose code requested this one. */
  readonly outer?: { readonly runId: string; readonly leftMs: number } | undefined;
}
