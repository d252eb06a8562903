import type { ArchiveContent } from "../../archive/archive-content.ts";

/** A file of a tree. Directories are not listed, submodules are left out. */
export interface TreeFile {
  readonly size: number;
  readonly executable: boolean;
  /** A symlink: its content is the target. */
  readonly isLink: boolean;
}

/** The files of a repository at a commit, or of an archive. Nothing of it is written to where a program could run it. */
export interface FileTree {
  /** By path, relative with `/`; every path passed the rules of archives. */
  readonly files: ReadonlyMap<string, TreeFile>;
  /** Paths that did not, as they were received, and why: the end of a sentence that starts with "The path". */
  readonly refused: readonly { readonly path: string; readonly why: string }[];
  /** Throws SOURCE_INVALID if a content is missing or the limit on bytes is exceeded. */
  read(paths: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Uint8Array>>;
}

interface Content {
  readonly bytes: Uint8Array;
  readonly executable: boolean;
  readonly isLink: boolean;
}

/** The files of an archive, held in memory. */
export function archiveTree({ files: plain, links, unusable }: ArchiveContent): FileTree {
  const contents = new Map<string, Content>([
    ...plain.map(({ path, bytes, executable }) => [path, { bytes, executable, isLink: false }] as const),
    ...links.map(
      ({ path, target }) => [path, { bytes: Buffer.from(target), executable: false, isLink: true }] as const,
    ),
  ]);
  const files = new Map(
    [...contents].map(([path, { bytes, executable, isLink }]) => {
      return [path, { size: bytes.length, executable, isLink }] as const;
    }),
  );
  return {
    files,
    refused: unusable,
    read(paths) {
      const found = paths.flatMap((path) => {
        const content = contents.get(path);
        return content === undefined ? [] : [[path, content.bytes] as const];
      });
      return Promise.resolve(new Map(found));
    },
  };
}

/** `a` and `b/c` as `a/b/c`; the empty path is the root. */
export function joinTreePath(directory: string, path: string): string {
  return directory === "" ? path : path === "" ? directory : `${directory}/${path}`;
}

/** The directory of a path; empty for one in the root. */
export function parentDirectoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** The last name of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Whether a path is in a directory, however deep; everything is in the root. */
export function isBelow(path: string, directory: string): boolean {
  return directory === "" || path.startsWith(`${directory}/`);
}

const mostHops = 8;
const longestTarget = 4_096;

/** The targets of symlinks, by their paths. */
type LinkTargets = ReadonlyMap<string, string>;

export async function readLinks(tree: FileTree, links: readonly string[], signal: AbortSignal): Promise<LinkTargets> {
  const short = links.filter((path) => (tree.files.get(path)?.size ?? Infinity) <= longestTarget);
  const contents = await tree.read(short, signal);
  return new Map([...contents].map(([path, bytes]) => [path, Buffer.from(bytes).toString("utf8")] as const));
}

/** The file that a link means in the end; undefined unless it is one of the same skill. */
export function resolveSymlink(
  tree: FileTree,
  directory: string,
  link: string,
  targets: LinkTargets,
): string | undefined {
  let path = link;
  for (let hop = 0; hop < mostHops; hop++) {
    const target = targets.get(path);
    if (target === undefined) return tree.files.get(path)?.isLink === false ? path : undefined;
    const next = resolvePath(parentDirectoryOf(path), target);
    if (next === undefined || !isBelow(next, directory)) return undefined;
    path = next;
  }
  return undefined;
}

/** What is said about a link that leads elsewhere. */
export function linkProblem(path: string): string {
  return `${JSON.stringify(path)} is a symlink to something that is not a file of the same skill; left out.`;
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
