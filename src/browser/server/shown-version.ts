import { SkillsError, undefinedIfOurs } from "../../base/errors.ts";
import type { OfferedSkill } from "../../skills/skill.ts";
import type { DecisionRequest } from "../wire/skills.ts";
import type { BrowseDoor, BrowseRefusal } from "./browse-door.ts";
import { hashShown } from "./detail/show-skill.ts";
import { nearest } from "../../base/text/nearest.ts";
import type { ShownSkill } from "./rows/row-texts.ts";

/**
 * The skill of an id, if its bytes are still those that the page was shown with this nonce; else why it is refused. Every decision and run
 * comes through here. Throws SKILL_NOT_FOUND.
 */
export async function shownVersion(
  id: string,
  { digest, nonce }: Pick<DecisionRequest, "digest" | "nonce">,
  door: Pick<BrowseDoor, "app" | "skills" | "nonces">,
  signal: AbortSignal,
): Promise<{ readonly offered: OfferedSkill } | { readonly refused: BrowseRefusal }> {
  const { offered, row } = await findShown(door, id);
  if (offered === undefined)
    throw new SkillsError("NOT_EXECUTABLE", `${row.name} is not offered; its problems say why.`);
  // It may have been moved or removed since the list was made.
  const current = await hashShown(door, offered.skill, signal).catch(undefinedIfOurs);
  const refused = door.nonces.faultOf({ id, digest, nonce }, current?.digest);
  return refused === undefined ? { offered } : { refused };
}

/** Throws SKILL_NOT_FOUND. */
export async function findShown({ skills }: Pick<BrowseDoor, "skills">, id: string): Promise<ShownSkill> {
  const shown = await skills.find(id);
  if (shown !== undefined) return shown;
  const ids = (await skills.all()).map(({ row }) => row.id);
  const available = nearest(id.slice(0, 128), ids);
  const hint = "It may have been removed or renamed; look at the list.";
  const message = `There is no skill ${JSON.stringify(id.slice(0, 128))}.`;
  throw new SkillsError("SKILL_NOT_FOUND", message, { facts: { available, hint } });
}
