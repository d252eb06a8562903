import { nearest } from "../base/nearest.ts";
import type { Snapshot } from "./skill.ts";

/** For a name that no skill has: the ones it may have been meant for. */
export function noSuchSkill(name: string, { skills, problems }: Snapshot): string {
  const names = skills.flatMap(({ skill }) => (skill.name === skill.slug ? [skill.slug] : [skill.slug, skill.name]));
  const close = nearest(name, names, { count: 3 });
  const guess = close.length > 0 ? `; did you mean ${close.join(" or ")}?` : "";
  const leftOut = problems.some(({ severity }) => severity === "error")
    ? " (some skills have errors: see acp-skills check)"
    : "";
  return `no skill is called ${name}${guess}${leftOut}`;
}
