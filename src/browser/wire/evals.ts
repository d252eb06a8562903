import type { EvalRun, TranscriptLine } from "../../evals/recorded-runs.ts";
import type { Benchmark } from "../../evals/statistics.ts";

/** A run with `rate`, the weighted share of its assertions that hold; absent if no assertion was judged. */
export type ShownEvalRun = EvalRun & { readonly rate?: number | undefined };

export interface ShownIteration {
  readonly number: number;
  readonly benchmark: Benchmark;
  readonly runs: readonly ShownEvalRun[];
}

/** `GET /api/skills/ID/evals`. */
export interface SkillEvals {
  /** The directory in which the runs are recorded, with `~` for the home directory. */
  readonly workspace: string;
  /** The newest first. */
  readonly iterations: readonly ShownIteration[];
}

/** `GET /api/skills/ID/evals/session?iteration=N&id=CASE&withSkill=true&number=N`. */
export interface EvalLog {
  readonly lines: readonly TranscriptLine[];
}
