import { SkillsError } from "../../../base/errors.ts";
import type { SkillSource } from "../../../skills/files.ts";
import type { HashedSkill } from "../../../skills/hash.ts";
import { needsGrant, permissionsOf } from "../../../skills/permissions.ts";
import { declaresSame } from "../../../skills/skillset.ts";
import type { Skill } from "../../../skills/skill.ts";
import { readPlannedFile } from "./read-planned-file.ts";

/** The digest of which it is known that the skill declares the same. */
const checked = new WeakMap<Skill, string>();

/**
 * A digest is approved together with what the skill declares, so both must be of the same files: throws SKILL_NOT_READY where a skill was
 * read when its files were others, or declares something in a file that its digest does not cover.
 */
export async function checkDeclared(skill: Skill, { digest, files }: HashedSkill, source: SkillSource): Promise<void> {
  if (digest === undefined || checked.get(skill) === digest || wantsNothing(skill)) return;
  const read = (path: string): Uint8Array | undefined => {
    const file = files.find((other) => other.path === path);
    return file && readPlannedFile(source, skill.directory, file);
  };
  if (!(await declaresSame(skill, read))) {
    const message = `What the skill ${skill.name} declares is not what its files declare now.`;
    const hint =
      "If it was just changed, list the skills again. SKILL.md and skill.toml must be files of the skill, not links to files outside of its directory.";
    throw new SkillsError("SKILL_NOT_READY", message, { facts: { hint, retryable: true } });
  }
  checked.set(skill, digest);
}

function wantsNothing(skill: Skill): boolean {
  return !needsGrant(permissionsOf(skill)) && (skill.allowedTools ?? []).length === 0;
}
