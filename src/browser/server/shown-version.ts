import { SkillsError, undefinedIfOurs } from "../../base/errors.ts";
import type { OfferedSkill } from "../../skills/skill.ts";
import type { DecisionRequest } from "../wire/skills.ts";
import type { BrowseContext, BrowseRefusal } from "./browse-context.ts";
import { hashShown } from "./detail/show-skill.ts";

/**
 * Finds the skill of an id if its bytes are still those that the page showed with this nonce; else why it is refused. Every decision and
 * run is checked here. Rejects with SKILL_NOT_FOUND, and NOT_EXECUTABLE for a skill that is not offered.
 */
export async function shownVersion(
  id: string,
  { digest, nonce }: Pick<DecisionRequest, "digest" | "nonce">,
  context: Pick<BrowseContext, "app" | "skills" | "nonces">,
  signal: AbortSignal,
): Promise<{ readonly offered: OfferedSkill } | { readonly refused: BrowseRefusal }> {
  const { offered, row } = await context.skills.find(id);
  if (offered === undefined)
    throw new SkillsError("NOT_EXECUTABLE", `${row.name} is not offered; its problems say why.`);
  // The skill may have been moved or removed since the list was made.
  const current = await hashShown(context, offered.skill, signal).catch(undefinedIfOurs);
  const refused = context.nonces.faultOf({ id, digest, nonce }, current?.digest);
  return refused === undefined ? { offered } : { refused };
}
