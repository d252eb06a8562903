import { SkillsError } from "../../../base/errors.ts";
import { checkCollisions } from "../../archive/check-path.ts";
import { type FileTree, isBelow, joinTreePath } from "./file-tree.ts";
import { isSkill } from "./find-skills.ts";
import { readLinks, resolveSymlink } from "./links.ts";
import { skillLimits } from "../../source.ts";
import type { SkillFile } from "../../reader.ts";

/**
 * Reads the files of the skill in a directory. A symlink to a file of the same skill is read as that file; every other one is left out.
 * Throws SKILL_NOT_FOUND if there is no SKILL.md, FILE_TOO_LARGE if it exceeds a limit on skills, and SOURCE_INVALID if it has a path
 * that cannot name a file.
 */
export async function readSkillFrom(
  tree: FileTree,
  directory: string,
  signal: AbortSignal,
): Promise<readonly SkillFile[]> {
  if (!isSkill(tree, directory)) {
    const hint = "The skill may have moved: look again at what its source offers.";
    throw new SkillsError("SKILL_NOT_FOUND", `There is no SKILL.md in ${shown(directory)}.`, { facts: { hint } });
  }
  const refused = tree.refused.find(({ path }) => isBelow(path, directory));
  if (refused !== undefined) {
    throw new SkillsError("SOURCE_INVALID", `The path ${JSON.stringify(refused.path)} ${refused.why}.`);
  }
  const inside = [...tree.files].filter(([path]) => isBelow(path, directory));
  if (inside.length > skillLimits.files)
    throw tooLarge(directory, `${inside.length} files; the limit is ${skillLimits.files}`);
  const links = inside.filter(([, { isLink }]) => isLink).map(([path]) => path);
  const targets = links.length === 0 ? new Map<string, string>() : await readLinks(tree, links, signal);
  const wanted = inside.flatMap(([path, { isLink }]) => {
    const real = isLink ? resolveSymlink(tree, directory, path, targets) : path;
    return real === undefined ? [] : [{ path, real }];
  });
  checkCollisions(
    wanted.map(({ path }) => path),
    "skill",
  );
  const bytes = wanted.reduce((sum, { real }) => sum + (tree.files.get(real)?.size ?? 0), 0);
  if (bytes > skillLimits.bytes) throw tooLarge(directory, `${bytes} bytes; the limit is ${skillLimits.bytes}`);
  const contents = await tree.read([...new Set(wanted.map(({ real }) => real))], signal);
  return wanted.map(({ path, real }) => ({
    path: path.slice(joinTreePath(directory, "x").length - 1),
    bytes: contents.get(real) ?? new Uint8Array(),
    executable: tree.files.get(real)?.executable === true,
  }));
}

function tooLarge(directory: string, what: string): SkillsError {
  return new SkillsError("FILE_TOO_LARGE", `The skill in ${shown(directory)} has ${what}.`);
}

function shown(directory: string): string {
  return directory === "" ? "the root" : JSON.stringify(directory);
}
