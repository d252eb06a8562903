import { createHash } from "node:crypto";
import { type LockEntry, maxLockedFiles } from "../lock.ts";
import type { InstalledFiles } from "./read-installed.ts";
import type { SkillFile } from "../reader.ts";

/** How the files of an installed skill differ from its lock. Paths are sorted. */
export interface LockDifference {
  readonly missing: readonly string[];
  readonly changed: readonly string[];
  readonly added: readonly string[];
  /** `digest`, `computedHash`: which of the lock's do not fit. */
  readonly hashes: readonly string[];
}

/** The sha256 of each file, as they are locked; undefined for too many. */
export function fileDigests(files: readonly SkillFile[]): Readonly<Record<string, string>> | undefined {
  if (files.length > maxLockedFiles) return undefined;
  return Object.fromEntries(files.map(({ path, bytes }) => [path, sha256(bytes)]));
}

/**
 * Compares what is installed with the lock; undefined if it is the same. `digest`: of the skill that is there, where the lock has one.
 * Files are compared one by one where the lock has their digests.
 */
export function lockDifferenceOf(
  entry: LockEntry,
  { files, others }: InstalledFiles,
  digest: string | undefined,
): LockDifference | undefined {
  const hashes = [
    ...(entry.digest !== undefined && digest !== entry.digest ? ["digest"] : []),
    ...(isHash(entry.computedHash) && computedHash(files) !== entry.computedHash ? ["computedHash"] : []),
  ];
  const locked = new Map(Object.entries(entry.files ?? {}));
  const found = new Map(entry.files === undefined ? [] : files.map(({ path, bytes }) => [path, sha256(bytes)]));
  const missing = [...locked.keys()].filter((path) => !found.has(path)).sort();
  const changed = [...locked]
    .flatMap(([path, hash]) => (found.has(path) && found.get(path) !== hash ? [path] : []))
    .sort();
  // What only the hash of the skills package locks may have files that it does not cover, but runs have.
  const uncovered =
    entry.digest === undefined && isHash(entry.computedHash) ? files.filter((file) => !isHashed(file)) : [];
  const unlocked = [...found.keys(), ...uncovered.map(({ path }) => path)].filter((path) => !locked.has(path));
  // The skills package installs no links, and neither do we.
  const added = [...new Set([...unlocked, ...others])].sort();
  const isSame = [hashes, missing, changed, added].every((list) => list.length === 0);
  return isSame ? undefined : { missing, changed, added, hashes };
}

/** Whether both have the same paths and bytes. Computed hashes cannot answer that: they have no separators. */
export function hasSameFiles(one: readonly SkillFile[], other: readonly SkillFile[]): boolean {
  const bytes = new Map(one.map((file) => [file.path, file.bytes]));
  const isThere = ({ path, bytes: wanted }: SkillFile): boolean => {
    const found = bytes.get(path);
    return found !== undefined && Buffer.compare(found, wanted) === 0;
  };
  return one.length === other.length && other.every(isThere);
}

/** Whether the lock says anything about the bytes. */
export function isVerifiable({ computedHash: hash, digest }: LockEntry): boolean {
  return isHash(hash) || digest !== undefined;
}

function isHash(text: string | undefined): text is string {
  return text !== undefined && /^[0-9a-f]{64}$/.test(text);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** As in the default locale of the `skills` package, which sorts in that of its process. */
const { compare } = new Intl.Collator("en-US");

/**
 * The `computedHash` of the `skills` package: of paths and bytes, without separators, lengths or modes, so different skills can have the
 * same one. Only what that package looks at; our `digest` says more.
 */
export function computedHash(files: readonly Pick<SkillFile, "path" | "bytes">[]): string {
  const hash = createHash("sha256");
  for (const { path, bytes } of files.filter(isHashed).sort((a, b) => compare(a.path, b.path)))
    hash.update(path).update(bytes);
  return hash.digest("hex");
}

/** Whether the hash covers a file: directories named `.git` and `node_modules` are left out wherever they are. */
function isHashed({ path }: Pick<SkillFile, "path">): boolean {
  return !/(?:^|\/)(?:\.git|node_modules)\//.test(path);
}
