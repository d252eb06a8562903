import { nearest } from "../../base/text/nearest.ts";
import { SkillsError } from "../../base/errors.ts";
import type { BrowseDoor } from "./browse-door.ts";
import type { ShownSkill } from "./rows/shown-skill.ts";

/** Throws SKILL_NOT_FOUND. */
export async function findShown({ skills }: Pick<BrowseDoor, "skills">, id: string): Promise<ShownSkill> {
  const shown = await skills.find(id);
  if (shown !== undefined) return shown;
  const ids = (await skills.all()).map(({ row }) => row.id);
  throw new SkillsError("SKILL_NOT_FOUND", `There is no skill ${JSON.stringify(id.slice(0, 128))}.`, {
    facts: {
      available: nearest(id.slice(0, 128), ids),
      hint: "It may have been removed or renamed; look at the list.",
    },
  });
}
