import type { RemoteIndex } from "../reader.ts";
import { type SkillLocation, describeSkills, readSkillTexts } from "./trees/describe-skills.ts";
import type { FileTree } from "./trees/file-tree.ts";

export { describeSkills } from "./trees/describe-skills.ts";
export {
  type FileTree,
  archiveTree,
  findSkills,
  isSkill,
  nameOf,
  readSkillFrom,
  skillChildren,
} from "./trees/file-tree.ts";

/** Names and describes the skills in these directories of a tree; skills that are left out are reported. */
export async function listSkillsOf(
  tree: FileTree,
  locations: readonly SkillLocation[],
  signal: AbortSignal,
): Promise<Pick<RemoteIndex, "skills" | "problems">> {
  return await describeSkills(await readSkillTexts(tree, locations, signal));
}
