import type { ArchiveContent } from "../../archive/archive-content.ts";
import { groupBy } from "../../../base/limited-map.ts";
import { SkillsError } from "../../../base/errors.ts";
import { checkCollisions } from "../../archive/check-path.ts";
import { skillLimits } from "../../archive/skill-limits.ts";
import type { SkillFile } from "../../reader.ts";

/** A file of a tree. Directories are not listed, submodules are left out. */
export interface TreeFile {
  readonly size: number;
  readonly executable: boolean;
  /** Whether the file is a symlink, whose content is its target. */
  readonly isLink: boolean;
}

/** The files of a repository at a commit, or of an archive. None is written to a path at which a program could run it. */
export interface FileTree {
  /** The files by path, relative with `/`; every path conforms to the rules of archives. */
  readonly files: ReadonlyMap<string, TreeFile>;
  /** The unusable paths, as they were received. `why` is the end of a sentence that starts with "The path". */
  readonly refused: readonly { readonly path: string; readonly why: string }[];
  /** Reads contents by path. Throws SOURCE_INVALID if one is missing, FILE_TOO_LARGE above the limit on bytes. */
  read(paths: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Uint8Array>>;
}

/** Returns the files of an archive as a tree in memory. */
export function archiveTree({ files: plain, links, unusable }: ArchiveContent): FileTree {
  const all = [
    ...plain.map((file) => ({ ...file, isLink: false })),
    ...links.map(({ path, target }) => ({ path, bytes: Buffer.from(target), executable: false, isLink: true })),
  ];
  const files = new Map(all.map((file) => [file.path, { ...file, size: file.bytes.length }]));
  return {
    files,
    refused: unusable,
    read(paths) {
      const found = paths.flatMap((path) => files.get(path) ?? []);
      return Promise.resolve(new Map(found.map(({ path, bytes }) => [path, bytes])));
    },
  };
}

/** Reads the contents of those files that exist, are no links and have at most `maxBytes` bytes. */
export async function readSmall(
  tree: FileTree,
  paths: readonly string[],
  maxBytes: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const isSmall = (file: TreeFile | undefined): boolean => file?.isLink === false && file.size <= maxBytes;
  return await tree.read(
    paths.filter((path) => isSmall(tree.files.get(path))),
    signal,
  );
}

/** Joins `a` and `b/c` to `a/b/c`; the empty path is the root. */
export function joinTreePath(directory: string, path: string): string {
  return directory === "" ? path : path === "" ? directory : `${directory}/${path}`;
}

/** Returns the directory of a path; empty for a path in the root. */
export function parentDirectoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** Yields all directories that contain a path, the innermost first and the root last; nothing contains the root. */
export function* directoriesAbove(path: string): Generator<string, void> {
  for (let above = path; above !== "";) yield (above = parentDirectoryOf(above));
}

/** Returns the last segment of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Whether a path is in a directory, at any depth; everything is in the root. */
function isBelow(path: string, directory: string): boolean {
  return directory === "" || path.startsWith(`${directory}/`);
}

const maxHops = 8;
const maxTargetBytes = 4_096;

/** The targets of symlinks, by their paths. */
type LinkTargets = ReadonlyMap<string, string>;

export async function readLinks(tree: FileTree, links: readonly string[], signal: AbortSignal): Promise<LinkTargets> {
  const short = links.filter((path) => (tree.files.get(path)?.size ?? Infinity) <= maxTargetBytes);
  const contents = await tree.read(short, signal);
  return new Map([...contents].map(([path, bytes]) => [path, Buffer.from(bytes).toString("utf8")] as const));
}

/** Returns the file to which a link leads in the end; undefined unless it belongs to the same skill. */
export function resolveSymlink(
  tree: FileTree,
  directory: string,
  link: string,
  targets: LinkTargets,
): string | undefined {
  let path = link;
  for (let hop = 0; hop < maxHops; hop++) {
    const target = targets.get(path);
    if (target === undefined) return tree.files.get(path)?.isLink === false ? path : undefined;
    const next = resolvePath(parentDirectoryOf(path), target);
    if (next === undefined || !isBelow(next, directory)) return undefined;
    path = next;
  }
  return undefined;
}

function resolvePath(from: string, target: string): string | undefined {
  if (target.startsWith("/") || target.includes("\\") || target.includes("\0")) return undefined;
  const names = from === "" ? [] : from.split("/");
  for (const name of target.split("/")) {
    if (name === "" || name === ".") continue;
    if (name !== "..") names.push(name);
    else if (names.pop() === undefined) return undefined;
  }
  return names.join("/");
}

const skillFile = "SKILL.md";
/** The maximum depth of directories, as in local roots. */
const deepest = 12;
const skipped = new Set([".git", "node_modules"]);
/** The usual directories of skills in repositories; all that exist are read. */
const usualDirectories = ["skills", ".agents/skills", ".claude/skills"];

/** Whether a directory of a tree is a skill. */
export function isSkill(tree: FileTree, directory: string): boolean {
  return tree.files.get(joinTreePath(directory, skillFile))?.isLink === false;
}

/**
 * Returns the directories of skills below `start`: those in the usual directories; without any, `start` itself if it is a skill; else all
 * that there are. A skill inside another one belongs to that one.
 */
export function findSkills(tree: FileTree, start = ""): readonly string[] {
  const depth = start === "" ? 0 : start.split("/").length;
  const all = indexOf(tree).all.filter((directory) => {
    if (directory !== start && !isBelow(directory, start)) return false;
    const names = directory.split("/").slice(depth);
    return names.length <= deepest && !names.some((name) => skipped.has(name));
  });
  const usual = usualDirectories.map((name) => joinTreePath(start, name));
  const inUsual = outermost(all.filter((directory) => usual.some((name) => isBelow(directory, name))));
  if (inUsual.length > 0) return inUsual;
  return isSkill(tree, start) ? [start] : outermost(all);
}

/** Returns the immediate children of a directory that are skills. */
export function skillChildren(tree: FileTree, directory: string): readonly string[] {
  return indexOf(tree).children.get(directory) ?? [];
}

interface SkillIndex {
  readonly all: readonly string[];
  readonly children: ReadonlyMap<string, readonly string[]>;
}

/** The indexes of trees, cached because a marketplace needs thousands of directories of one tree. */
const indexes = new WeakMap<FileTree, SkillIndex>();

function indexOf(tree: FileTree): SkillIndex {
  const known = indexes.get(tree);
  if (known !== undefined) return known;
  const all = [...tree.files]
    .filter(([path, { isLink }]) => !isLink && (path === skillFile || path.endsWith(`/${skillFile}`)))
    .map(([path]) => parentDirectoryOf(path))
    .sort();
  const notRoot = all.filter((directory) => directory !== "");
  const index = { all, children: groupBy(notRoot, parentDirectoryOf) };
  indexes.set(tree, index);
  return index;
}

/** Removes directories that are inside another one of the list. */
function outermost(directories: readonly string[]): readonly string[] {
  const all = new Set(directories);
  return directories.filter((directory) => ![...directoriesAbove(directory)].some((above) => all.has(above)));
}

/**
 * Reads the files of the skill in a directory. A symlink to a file of the same skill is read as that file; any other symlink is left out.
 * Throws SKILL_NOT_FOUND if there is no SKILL.md, FILE_TOO_LARGE if the skill exceeds a limit, and SOURCE_INVALID for a path that cannot
 * name a file.
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
  if (refused !== undefined)
    throw new SkillsError("SOURCE_INVALID", `The path ${JSON.stringify(refused.path)} ${refused.why}.`);
  const inside = [...tree.files].filter(([path]) => isBelow(path, directory));
  if (inside.length > skillLimits.files)
    throw tooLarge(directory, `${inside.length} files; the limit is ${skillLimits.files}`);
  const links = inside.filter(([, { isLink }]) => isLink).map(([path]) => path);
  const targets = await readLinks(tree, links, signal);
  const wanted = inside.flatMap(([path, { isLink }]) => {
    const real = isLink ? resolveSymlink(tree, directory, path, targets) : path;
    return real === undefined ? [] : [{ path, real }];
  });
  checkCollisions(wanted, "skill");
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
