import type { Problem } from "../../skills/rules/problem.ts";

/** How much is wrong with a session's skills. */
export interface ProblemCounts {
  readonly errors: number;
  readonly warnings: number;
}

export function countProblems(problems: readonly Problem[]): ProblemCounts {
  let [errors, warnings] = [0, 0];
  for (const { severity } of problems) {
    if (severity === "error") errors++;
    else if (severity === "warning") warnings++;
  }
  return { errors, warnings };
}
