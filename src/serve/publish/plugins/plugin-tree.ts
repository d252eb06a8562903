import type { Steps } from "../../../base/promises.ts";
import type { PublishedSkill } from "../publication.ts";
import { type GitObject, type TreeEntry, toGitObject, toTree } from "./git-object.ts";
import { toPluginManifest } from "./marketplace.ts";
import type { SkillFile } from "../../../sources/reader.ts";

/** A directory of a repository, with all that is below it. */
export interface GitTree {
  readonly id: string;
  /** It is one of them. */
  readonly objects: readonly GitObject[];
  /** Of the objects, packed. */
  readonly size: number;
}

/** The plugin of a skill: its manifest, and `skills/<slug>/` with the files. */
export function* toPluginTree(files: readonly SkillFile[], { skill }: PublishedSkill): Steps<GitTree> {
  const manifest = Buffer.from(`${JSON.stringify(toPluginManifest(skill), undefined, 2)}\n`);
  const below = files.map((file) => ({ ...file, path: `skills/${skill.slug}/${file.path}` }));
  return yield* toGitTree([{ path: "plugin.json", bytes: manifest, executable: false }, ...below]);
}

/** The tree of some files, and of trees that exist by path. */
export function* toGitTree(
  files: readonly SkillFile[],
  trees: readonly { readonly path: string; readonly id: string }[] = [],
): Steps<GitTree> {
  const objects: GitObject[] = [];
  const root: Directory = { entries: [], directories: new Map() };
  for (const { path, bytes, executable } of files) {
    const object = yield* toGitObject("blob", bytes);
    objects.push(object);
    place(root, path, { mode: executable ? "program" : "file", id: object.id });
  }
  for (const { path, id } of trees) place(root, path, { mode: "directory", id });
  const id = yield* write(root, objects);
  return { id, objects, size: objects.reduce((sum, { packed }) => sum + packed.length, 0) };
}

interface Directory {
  readonly entries: TreeEntry[];
  readonly directories: Map<string, Directory>;
}

function place(root: Directory, path: string, entry: Omit<TreeEntry, "name">): void {
  const names = path.split("/");
  const name = names.pop() ?? "";
  let at = root;
  for (const above of names) {
    let next = at.directories.get(above);
    if (next === undefined) at.directories.set(above, (next = { entries: [], directories: new Map() }));
    at = next;
  }
  at.entries.push({ name, ...entry });
}

function* write({ entries, directories }: Directory, objects: GitObject[]): Steps<string> {
  const all = [...entries];
  for (const [name, directory] of directories)
    all.push({ name, mode: "directory", id: yield* write(directory, objects) });
  const tree = yield* toGitObject("tree", toTree(all));
  objects.push(tree);
  return tree.id;
}
