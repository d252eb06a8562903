import type { SkillFileEntry } from "../../../wire/skills.ts";

/** A line of the tree that is in view: a directory or a file, at a level that starts with 1. */
export interface TreeNode {
  readonly path: string;
  readonly name: string;
  readonly level: number;
  readonly position: number;
  readonly siblings: number;
  readonly file?: SkillFileEntry;
  /** Present for a directory. */
  readonly isOpen?: boolean;
}

interface Directory {
  readonly directories: Map<string, Directory>;
  readonly files: [string, SkillFileEntry][];
}

/** The tree from top to bottom, without what lies in closed directories. Directories come first, then names in order. */
export function treeNodes(files: readonly SkillFileEntry[], closed: ReadonlySet<string>): readonly TreeNode[] {
  const root = empty();
  for (const file of files) {
    const names = file.path.split("/");
    const name = names.pop() ?? file.path;
    let directory = root;
    for (const part of names) {
      const inner = directory.directories.get(part) ?? empty();
      directory.directories.set(part, inner);
      directory = inner;
    }
    directory.files.push([name, file]);
  }
  const nodes: TreeNode[] = [];
  list(root, "", 1);
  return nodes;

  function list(directory: Directory, above: string, level: number): void {
    const siblings = directory.directories.size + directory.files.length;
    let position = 0;
    for (const [name, inner] of [...directory.directories].sort(byName)) {
      const path = `${above}${name}`;
      const isOpen = !closed.has(path);
      nodes.push({ path, name, level, position: ++position, siblings, isOpen });
      if (isOpen) list(inner, `${path}/`, level + 1);
    }
    for (const [name, file] of directory.files.sort(byName))
      nodes.push({ path: file.path, name, level, position: ++position, siblings, file });
  }
}

function empty(): Directory {
  return { directories: new Map(), files: [] };
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : Number(one > other);
}
