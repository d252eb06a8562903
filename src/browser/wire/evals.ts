import type { EvalRun, SessionLine } from "../../evals/recorded-runs.ts";
import type { Benchmark } from "../../evals/statistics.ts";

/** A run, and the weighted share of its assertions that hold; absent if none was judged. */
export type ShownEvalRun = EvalRun & { readonly rate?: number | undefined };

export interface ShownIteration {
  readonly number: number;
  readonly benchmark: Benchmark;
  readonly runs: readonly ShownEvalRun[];
}

/** `GET /api/skills/ID/evals`. */
export interface SkillEvals {
  /** Where they are recorded, as people write it. */
  readonly workspace: string;
  /** The newest first. */
  readonly iterations: readonly ShownIteration[];
}

/** `GET /api/skills/ID/evals/session?iteration=N&id=CASE&withSkill=true&number=N`. */
export interface EvalSessionLog {
  readonly lines: readonly SessionLine[];
}
