import { type FileTree, isBelow, parentDirectoryOf } from "./file-tree.ts";

const mostHops = 8;
const longestTarget = 4_096;

/** The targets of symlinks, by their paths. */
export type LinkTargets = ReadonlyMap<string, string>;

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
