import { isObject, parseIfJson } from "../../../../base/json/json-value.ts";
import { hashInSlices } from "../../../../base/text/hash-in-slices.ts";
import { readArchive } from "../../../archive/read-archive.ts";
import { type FileTree, archiveTree, findSkills, isSkill, skillChildren } from "../../../reader/trees.ts";
import type { PublishedVersion } from "./choose-version.ts";
import { badSource } from "../../source-label.ts";

export const packageLimits = {
  packedBytes: 50 * 1024 * 1024,
  unpackedBytes: 200 * 1024 * 1024,
  files: 20_000,
} as const;

const manifestBytes = 1024 * 1024;

/**
 * Unpacks a tarball into memory. Its bytes must be those that the registry announced, and no script of the package runs. Throws
 * SOURCE_INVALID.
 */
export async function unpackPackage(
  bytes: Uint8Array,
  { name, version, integrity }: PublishedVersion,
  signal: AbortSignal,
): Promise<FileTree> {
  const what = `${name}@${version}`;
  const found = `sha512-${await hashInSlices(bytes, "sha512", "base64")}`;
  if (found !== integrity)
    throw badSource(
      `The tarball of ${what} is not what its registry says: its integrity is ${found} instead of ${integrity}`,
    );
  const { files: max, unpackedBytes } = packageLimits;
  const limits = { files: max, entries: 2 * max, bytes: unpackedBytes, unpacked: unpackedBytes + max * 1_024 };
  const archive = await readArchive(bytes, { links: "list", unusable: "list", limits }, signal);
  const manifests = archive.files.filter(({ path }) => /^[^/]+\/package\.json$/i.test(path));
  if (manifests.length > 1)
    throw badSource(
      `The tarball of ${what} has ${manifests.length === 2 ? "two" : manifests.length} package.json: which one counts depends on who reads it`,
    );
  const [manifest] = manifests;
  const own =
    manifest === undefined || manifest.bytes.length > manifestBytes
      ? undefined
      : parseIfJson(new TextDecoder().decode(manifest.bytes));
  if (manifest === undefined || !isObject(own))
    throw badSource(`The tarball of ${what} has no package.json that can be read`);
  if (own["name"] !== name || own["version"] !== version)
    throw badSource(`The package.json in the tarball of ${what} is of ${shown(own["name"])} ${shown(own["version"])}`);
  return archiveTree(belowTop(archive, what));
}

type Unpacked = Awaited<ReturnType<typeof readArchive>>;

/** Removes the single top directory of a tarball. */
function belowTop({ files, links, unusable }: Unpacked, what: string): Unpacked {
  const seen = new Set<string>();
  const without = <Entry extends { readonly path: string }>(entry: Entry): Entry => {
    if (seen.has(entry.path)) throw badSource(`The tarball of ${what} has ${JSON.stringify(entry.path)} twice`);
    seen.add(entry.path);
    const [top = ""] = entry.path.split("/", 1);
    first ??= top;
    if (top !== first) throw badSource(`The tarball of ${what} has more than one directory at its top`);
    return { ...entry, path: entry.path.slice(top.length + 1) };
  };
  let first: string | undefined;
  return { files: files.map(without), links: links.map(without), unusable: unusable.map(without) };
}

/** The directories of skills in a package that is not a skill itself. */
export const skillDirectories = ["skills", "dist/skills"] as const;

/** Returns the directories of skills, as `skills experimental_sync` finds them in an installed package. */
export function publishedSkills(tree: FileTree): readonly string[] {
  return isSkill(tree, "") ? [""] : skillDirectories.flatMap((directory) => skillChildren(tree, directory));
}

/** Returns the published skills; if there are none, those that a repository would have. */
export function skillsInPackage(tree: FileTree): readonly string[] {
  const published = publishedSkills(tree);
  return published.length > 0 ? published : findSkills(tree);
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 100)) : "no name";
}
