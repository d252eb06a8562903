import { type FileTree, isBelow, joinTreePath, parentDirectoryOf } from "./file-tree.ts";

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
