import type { EvalRun, SessionLine } from "../../evals/recorded-runs.ts";

/** A run, and the weighted share of its assertions that hold; absent if none was judged. */
export type ShownEvalRun = EvalRun & { readonly rate?: number | undefined };

/** `GET /api/skills/ID/evals`. */
export interface SkillEvals {
  /** Where they are recorded, as people write it. */
  readonly workspace: string;
  /** The newest first. */
  readonly iterations: readonly { readonly number: number; readonly runs: readonly ShownEvalRun[] }[];
}

/** `GET /api/skills/ID/evals/session?iteration=N&id=CASE&withSkill=true&number=N`. */
export interface EvalSessionLog {
  readonly lines: readonly SessionLine[];
}
