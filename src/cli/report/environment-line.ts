import { type Match, describeDemand, summarise } from "../../skills/environment.ts";

/** One line: `missing: git; unknown: network access`. Undefined if nothing is asked for. */
export function sayEnvironment(matches: readonly Match[]): string | undefined {
  const summary = summarise(matches);
  if (summary === undefined) return undefined;
  const parts = (["missing", "unknown"] as const).flatMap((status) => {
    const names = matches
      .filter((match) => match.status === status && match.requirement.optional === undefined)
      .map(({ requirement }) => describeDemand(requirement));
    return names.length === 0 ? [] : [`${status}: ${[...new Set(names)].join(", ")}`];
  });
  return parts.length === 0 ? "met" : parts.join("; ");
}
