import { type FileTree, isBelow, joinTreePath, parentDirectoryOf, readLinks, resolveSymlink } from "./file-tree.ts";
import { SkillsError } from "../../../base/errors.ts";
import { checkCollisions } from "../../archive/check-path.ts";
import { skillLimits } from "../../source.ts";
import type { SkillFile } from "../../reader.ts";

const skillFile = "SKILL.md";
/** As deep as local roots are read. */
const deepest = 12;
const skipped = new Set([".git", "node_modules"]);
/** Where repositories keep skills; those of all of them are taken. */
const usualPlaces = ["skills", ".agents/skills", ".claude/skills"];

/** Whether a directory of a tree is a skill. */
export function isSkill(tree: FileTree, directory: string): boolean {
  return tree.files.get(joinTreePath(directory, skillFile))?.isLink === false;
}

/**
 * The directories of a repository's skills below `start`: those in the usual places; without any, the directory itself; else all that
 * there are. A skill inside another one is a part of that one.
 */
export function findSkills(tree: FileTree, start = ""): readonly string[] {
  const depth = start === "" ? 0 : start.split("/").length;
  const all = indexOf(tree).all.filter((directory) => {
    if (directory !== start && !isBelow(directory, start)) return false;
    const names = directory.split("/").slice(depth);
    return names.length <= deepest && !names.some((name) => skipped.has(name));
  });
  const usual = usualPlaces.map((place) => joinTreePath(start, place));
  const inPlace = outermost(all.filter((directory) => usual.some((place) => isBelow(directory, place))));
  if (inPlace.length > 0) return inPlace;
  return isSkill(tree, start) ? [start] : outermost(all);
}

/** The immediate children of a directory that are skills. */
export function skillChildren(tree: FileTree, directory: string): readonly string[] {
  return indexOf(tree).children.get(directory) ?? [];
}

interface SkillIndex {
  readonly all: readonly string[];
  readonly children: ReadonlyMap<string, readonly string[]>;
}

/** A marketplace asks for thousands of directories of one tree. */
const indexes = new WeakMap<FileTree, SkillIndex>();

function indexOf(tree: FileTree): SkillIndex {
  const known = indexes.get(tree);
  if (known !== undefined) return known;
  const all = [...tree.files]
    .filter(([path, { isLink }]) => !isLink && (path === skillFile || path.endsWith(`/${skillFile}`)))
    .map(([path]) => parentDirectoryOf(path))
    .sort();
  const children = new Map<string, string[]>();
  for (const directory of all) {
    if (directory === "") continue;
    const siblings = children.get(parentDirectoryOf(directory));
    if (siblings === undefined) children.set(parentDirectoryOf(directory), [directory]);
    else siblings.push(directory);
  }
  const index = { all, children };
  indexes.set(tree, index);
  return index;
}

/** Without directories inside another one of them. */
function outermost(directories: readonly string[]): readonly string[] {
  const all = new Set(directories);
  return directories.filter((directory) => {
    for (let above = parentDirectoryOf(directory); above !== ""; above = parentDirectoryOf(above))
      if (all.has(above)) return false;
    return directory === "" || !all.has("");
  });
}

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
