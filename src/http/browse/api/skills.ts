import { SkillsError } from "../../../errors.ts";
import { nearest } from "../../../base/nearest.ts";
import type { BrowseDoor, MountBrowse } from "../browse-door.ts";
import { showSkill } from "../detail/show-skill.ts";
import type { ShownSkill } from "../rows/shown-skill.ts";

/** `GET /api/skills`, `GET /api/skills/ID`. */
export const mountSkills: MountBrowse = (door) => [
  {
    method: "GET",
    path: "/api/skills",
    answer: async () => ({ kept: await door.skills.list() }),
  },
  {
    method: "GET",
    path: "/api/skills/:id",
    answer: async ({ param, signal }) => ({ json: await showSkill(await findShown(door, param("id")), door, signal) }),
  },
];

/** Throws SKILL_NOT_FOUND. */
export async function findShown({ skills }: Pick<BrowseDoor, "skills">, id: string): Promise<ShownSkill> {
  const shown = await skills.find(id);
  if (shown !== undefined) return shown;
  const ids = (await skills.all()).map(({ row }) => row.id);
  throw new SkillsError("SKILL_NOT_FOUND", `There is no skill ${JSON.stringify(id.slice(0, 128))}.`, {
    facts: { available: nearest(id, ids), hint: "It may have been removed or renamed; look at the list." },
  });
}
