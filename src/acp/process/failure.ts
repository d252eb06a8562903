import type { Snapshot } from "../../skills/skill.ts";

/** What the user is told when skills fail as a whole. Single bad skills are not failure; they are problems. */
export interface Failure {
  readonly title: string;
  readonly description: string;
}

/** Tells whether skills failed as a whole: directories that could not be used, or errors and not one skill. */
export function describeFailure(unusable: readonly string[], { skills, problems }: Snapshot): Failure | undefined {
  if (unusable.length > 0)
    return { title: "Some directories were not searched for skills.", description: unusable.join(" ") };
  const errors = problems.filter(({ severity }) => severity === "error");
  const [first] = errors;
  if (skills.length > 0 || first === undefined) return undefined;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  return { title: "No skills could be read.", description: `${first.file}: ${first.message}${more} ${first.fix}` };
}
