import { permissionWords } from "../skills/manifest/permission-words.ts";
import type { InspectedSkill } from "./inspect-skill.ts";

/** Each permission, and each tool of the agent that the skill lists. */
export function wantedWords({ wants }: Pick<InspectedSkill, "wants">): readonly string[] {
  return [...permissionWords(wants), ...wants.tools.map((tool) => `tool ${tool}`)];
}
