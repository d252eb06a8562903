import type { Problem } from "../../../../skills/rules/problem.ts";

/** The problems to show, in order; if there are too many, errors before warnings. */
export function shownProblems(problems: readonly Problem[], most: number): readonly Problem[] {
  if (problems.length <= most) return problems;
  const worst = (["error", "warning", "note"] as const).flatMap((severity) =>
    problems.filter((problem) => problem.severity === severity),
  );
  const shown = new Set(worst.slice(0, most));
  return problems.filter((problem) => shown.has(problem));
}

/** `… and 3 more problems (see --max-problems)`; undefined if all are shown. */
export function notShown({ length }: readonly Problem[], most: number): string | undefined {
  if (length <= most) return undefined;
  return `… and ${length - most} more ${length - most === 1 ? "problem" : "problems"}; show more with --max-problems`;
}
