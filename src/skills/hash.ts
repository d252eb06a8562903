import { relative, sep } from "node:path";
import { createHash } from "node:crypto";
import { joinPath } from "../base/paths/at-real-path.ts";
import { isWithin } from "../base/paths/location.ts";
import { type Steps, runInSlices, createSemaphore } from "../base/promises.ts";
import { isSkillsError, SkillsError } from "../base/errors.ts";
import type { DirectoryEntry, SkillBytes, SkillFiles, SkillSource } from "./files.ts";
import { type SkillDirectory, fileNameFault, signatureFile } from "./skill.ts";
import { byCodePoint, countCodePoints } from "../base/text/code-points.ts";
import { LimitedMap } from "../base/limited-map.ts";

/** The maximum number of files of a walk, and of entries that it reads. */
const maxWalkedFiles = 4096;
const maxWalkedEntries = 20_000;

/** A file of a skill that is served: its path for read_skill_file, and its real path. */
export interface WalkedFile {
  readonly path: string;
  readonly real: string;
}

export interface Walk {
  /** Ordered by code point. */
  readonly files: readonly WalkedFile[];
  /** False if the walk ended at one of its limits. */
  readonly complete: boolean;
  /** Whether entries were left out because of their names. */
  readonly hasHidden: boolean;
}

/**
 * Walks all files below a skill's directory that are served, hashed, mounted and published. Follows links only inside the directory. Omits
 * unreadable files. Throws UNREADABLE for an unreadable skill directory, and for a name that rules out a digest. `isLeftOut` is called for
 * each subdirectory.
 */
export function* walkSkill(
  source: SkillFiles,
  root: string,
  isLeftOut?: (path: string, entries: readonly DirectoryEntry[]) => boolean,
): Steps<Walk> {
  const files: WalkedFile[] = [];
  let entriesLeft = maxWalkedEntries;
  let complete = true;
  let hasHidden = false;

  function* walkDirectory(real: string, prefix: string, above: readonly string[]): Steps<void> {
    const entries = prefix === "" ? source.list(real) : (orNothing(() => source.list(real)) ?? []);
    yield;
    if (prefix !== "" && isLeftOut?.(prefix, entries) === true) return;
    hasHidden ||= entries.some(({ name }) => isHiddenName(name));
    for (const entry of inPathOrder(entries)) {
      if (files.length >= maxWalkedFiles || --entriesLeft < 0) complete = false;
      if (!complete) return;
      const path = prefix + entry.name;
      if (path === signatureFile) continue;
      const fault = fileNameFault(entry.name);
      if (fault !== undefined) throw invalidFileName(root, path, fault);
      if (skillPathFault(path) !== undefined) continue;
      const target = entry.link ? followInside(source, joinPath(real, entry.name), root) : joinPath(real, entry.name);
      if (target === undefined) continue;
      if (entry.kind === "file") files.push({ path, real: target });
      else if (!above.includes(target)) yield* walkDirectory(target, `${path}/`, [...above, target]);
    }
  }
  yield* walkDirectory(root, "", [root]);
  return { files, complete, hasHidden };
}

function invalidFileName(root: string, path: string, fault: string): SkillsError {
  const message = `${root} cannot be used as a skill: the name of ${quotedPath(path)} ${fault}.`;
  return new SkillsError("UNREADABLE", message, { facts: { path: root, reason: invalidName } });
}

/** The reason in the facts of an error: a file of the skill has a name that rules out a digest. */
export const invalidName = "file-name-invalid";

/** Quotes a path, and escapes everything but printable ASCII. */
function quotedPath(path: string): string {
  return JSON.stringify(path).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The real target of a link, if it is inside the directory and not hidden. */
function followInside(source: SkillFiles, link: string, root: string): string | undefined {
  const real = orNothing(() => source.resolve(link));
  return real !== undefined && isWithin(real, root) && !isHiddenBelow(real, root) ? real : undefined;
}

/** Whether a real path below a skill's directory contains a name that is never served. */
function isHiddenBelow(real: string, root: string): boolean {
  return isHiddenPath(relative(root, real).split(sep));
}

function isHiddenPath(segments: readonly string[]): boolean {
  return segments.some(isHiddenName) || (segments.length === 1 && segments[0] === signatureFile);
}

/** Sorts entries in the order of paths: directories are compared with a slash at the end. */
function inPathOrder(entries: readonly DirectoryEntry[]): DirectoryEntry[] {
  const key = ({ name, kind }: DirectoryEntry): string => (kind === "directory" ? `${name}/` : name);
  return entries
    .filter(({ name, kind }) => (kind === "file" || kind === "directory") && !isHiddenName(name))
    .sort((a, b) => byCodePoint(key(a), key(b)));
}

/** Returns the result of `read`; undefined for an unreadable file or directory, which must not hide the others. */
export function orNothing<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (isSkillsError(error, "UNREADABLE")) return undefined;
    throw error;
  }
}

/**
 * The real path of a file that may be served, for a path that passed `skillPathFault`. Undefined for hidden files; throws INVALID_PATH
 * for a path that leaves the skill's directory.
 */
export function locateSkillFile(
  { files }: SkillSource,
  { directory }: SkillDirectory,
  path: string,
): string | undefined {
  const segments = path.split("/");
  if (isHiddenPath(segments)) return undefined;
  const real = files.resolve(segments.reduce(joinPath, directory));
  if (real === undefined) return undefined;
  if (!isWithin(real, directory)) throw invalidPath("leads outside the skill's directory");
  return isHiddenBelow(real, directory) ? undefined : real;
}

/** `fault` is the end of a sentence that starts with "The path". */
export function invalidPath(fault: string): SkillsError {
  const hint = "Take a path from the files that describe_skill lists, such as SKILL.md or references/guide.md.";
  return new SkillsError("INVALID_PATH", `The path ${fault}.`, { facts: { hint } });
}

/** The maximum length in characters. */
const maxPathLength = 512;

/**
 * Why a path cannot name a file of a skill, as the end of a sentence that starts with "The path"; undefined if it can.
 * Pure: existence and links are not checked. Never percent-decodes.
 */
export function skillPathFault(path: string, directory = "the skill's directory"): string | undefined {
  if (path === "") return "is empty";
  if (path.length > maxPathLength && countCodePoints(path) > maxPathLength) {
    return `has more than ${maxPathLength} characters`;
  }
  if (path.includes("\0")) return "contains a NUL character";
  if (path.includes("\\")) return "contains a backslash; separate its segments by /";
  if (path.startsWith("/")) return "is absolute; leave out the leading /";
  if (path.startsWith("~")) return `starts with ~; write it relative to ${directory}`;
  if (/^[A-Za-z]:/.test(path)) return `starts with a drive letter; write it relative to ${directory}`;
  for (const segment of path.split("/")) {
    if (segment === "") return "has an empty segment";
    if (segment === "." || segment === "..") return `has a segment ${segment}; write it relative to ${directory}`;
  }
  return undefined;
}

/** Whether a name is never served: a dot-file, or Python's cache. */
export function isHiddenName(name: string): boolean {
  return name.startsWith(".") || name.toLowerCase() === "__pycache__";
}

export interface HashedFile {
  readonly path: string;
  readonly size_bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

export interface HashedSkill {
  /** Ordered by code point. */
  readonly files: readonly HashedFile[];
  /** The digest of the paths and digests of all files; undefined if there are too many or they are too large. */
  readonly digest: string | undefined;
  /** Set if the files exceed `maxBytes`; nothing was hashed then. */
  readonly tooLarge?: true;
}

/** Hashes the files of skills; caches unchanged files. */
export interface SkillHasher {
  /** Hashes a skill. A skill that exceeds `maxBytes` is not read and has neither files nor digest. Default: no limit. */
  hash(
    source: SkillSource,
    directory: string,
    signal: AbortSignal,
    limits?: { readonly maxBytes?: number },
  ): Promise<HashedSkill>;
}

/** The maximum size of a skill whose digest is recorded with a read. */
const maxRecordedBytes = 4 * 1024 * 1024;

/** The digest of a skill's files for the record; undefined if it takes long or is not possible. */
export async function recordedDigest(
  hasher: SkillHasher,
  source: SkillSource,
  { directory }: SkillDirectory,
  signal: AbortSignal,
): Promise<string | undefined> {
  const limits = { maxBytes: maxRecordedBytes };
  return (await hasher.hash(source, directory, signal, limits).catch(() => undefined))?.digest;
}

const maxAtOnce = 2;
const maxRemembered = 50_000;

export function createSkillHasher(): SkillHasher {
  const remembered = new LimitedMap<string, { readonly version: string; readonly sha256: string }>(maxRemembered);
  const enter = createSemaphore(maxAtOnce);

  function* hashFile(
    bytes: SkillBytes,
    { path, real }: WalkedFile,
    signal: AbortSignal,
  ): Steps<HashedFile | undefined> {
    const stamp = bytes.stamp(real);
    if (stamp === undefined) return undefined;
    const known = stamp.version === undefined ? undefined : remembered.get(real);
    if (known !== undefined && known.version === stamp.version)
      return { path, size_bytes: stamp.size, sha256: known.sha256 };
    let sha256: string | undefined;
    const digest = bytes.sha256(real, signal);
    if (!(digest instanceof Promise)) sha256 = digest;
    yield digest instanceof Promise ? digest.then((value) => (sha256 = value)) : undefined;
    const after = bytes.stamp(real);
    if (sha256 === undefined || after === undefined) return undefined;
    if (after.version !== undefined && after.version === stamp.version) {
      // The file that was hashed last is evicted last.
      remembered.delete(real);
      remembered.set(real, { version: after.version, sha256 });
    }
    return { path, size_bytes: after.size, sha256 };
  }

  function* hashAll(
    { files, bytes }: SkillSource,
    directory: string,
    signal: AbortSignal,
    maxBytes: number,
  ): Steps<HashedSkill> {
    if (files.resolve(directory) !== directory) {
      const facts = { hint: "List the skills again." };
      throw new SkillsError("SKILL_NOT_READY", "The skill just changed on disk.", { facts });
    }
    const walk = yield* walkSkill(files, directory);
    if (maxBytes < Infinity && (yield* totalSize(bytes, walk.files)) > maxBytes)
      return { files: [], digest: undefined, tooLarge: true };
    const hashed: HashedFile[] = [];
    for (const file of walk.files) {
      signal.throwIfAborted();
      try {
        const result = yield* hashFile(bytes, file, signal);
        if (result !== undefined) hashed.push(result);
      } catch (error) {
        // An unreadable file counts as absent.
        if (!isSkillsError(error) || error.code !== "UNREADABLE") throw error;
      }
    }
    return { files: hashed, digest: walk.complete ? digestOf(hashed) : undefined };
  }

  return {
    async hash(source, directory, signal, { maxBytes = Infinity } = {}) {
      const leave = await enter();
      try {
        signal.throwIfAborted();
        return await runInSlices(hashAll(source, directory, signal, maxBytes));
      } finally {
        leave();
      }
    },
  };
}

function* totalSize(bytes: SkillBytes, files: readonly WalkedFile[]): Steps<number> {
  let total = 0;
  for (const { real } of files) {
    total += orNothing(() => bytes.stamp(real))?.size ?? 0;
    yield;
  }
  return total;
}

/** `sha256:` and the digest of the output of `sha256sum`: per file a line of digest, two spaces, path. */
export function digestOf(files: readonly HashedFile[]): string {
  const lines = createHash("sha256");
  for (const { path, sha256 } of files) lines.update(`${sha256}  ${path}\n`);
  return `sha256:${lines.digest("hex")}`;
}

/** The first characters of a digest, enough to compare by eye. */
export function shortDigest(digest: string): string {
  return digest.replace(/^sha256:/, "").slice(0, 12);
}
