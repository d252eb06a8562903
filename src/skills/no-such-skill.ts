import { nearest } from "../base/text/nearest.ts";
import type { Snapshot } from "./skill.ts";

/** The message for an unknown skill, with similar names. */
export function noSuchSkill(name: string, { skills, problems }: Snapshot): string {
  const names = skills.flatMap(({ skill }) => (skill.name === skill.slug ? [skill.slug] : [skill.slug, skill.name]));
  const close = nearest(name, names, { count: 3 });
  const guess = close.length > 0 ? `did you mean ${close.join(" or ")}?` : "acp-skills list shows all";
  const leftOut = problems.some(({ severity }) => severity === "error")
    ? " (skills with errors are left out; acp-skills check shows them)"
    : "";
  return `unknown skill ${name}; ${guess}${leftOut}`;
}
