import type { InspectedSkill } from "./inspect-skill.ts";
import { permissionWords } from "../../skills/permissions.ts";

/** Each permission, and each of the agent's tools that the skill's author expects. */
export function wantedWords({ wants, expects }: Pick<InspectedSkill, "wants" | "expects">): readonly string[] {
  return [...permissionWords(wants), ...expects.map((tool) => `the agent's tool ${tool}`)];
}
