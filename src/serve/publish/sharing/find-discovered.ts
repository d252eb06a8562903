import { SkillsError } from "../../../base/errors.ts";
import type { HttpContext, HttpDoor } from "../../http-door.ts";
import type { PublishedSkill } from "../publication.ts";

/** The skill that a path names, if the caller may know of it. Throws SKILL_NOT_FOUND, the same for hidden and absent ones. */
export function findDiscovered(
  { publication }: Pick<HttpDoor, "publication">,
  { req, env }: HttpContext,
): PublishedSkill {
  const slug = req.param("slug") ?? "";
  const published = publication().bySlug.get(slug);
  if (published !== undefined && env.caller.discovers(published)) return published;
  throw new SkillsError("SKILL_NOT_FOUND", `There is no skill ${JSON.stringify(slug.slice(0, 64))} here.`);
}
