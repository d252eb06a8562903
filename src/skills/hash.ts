import { createHash } from "node:crypto";
import { isSkillsError, SkillsError } from "../base/errors.ts";
import { createSemaphore } from "../base/promises/semaphore.ts";
import { runInSlices } from "../base/promises/slices.ts";
import type { Steps } from "../base/promises/slices.ts";
import type { FileStamp, SkillBytes, SkillSource } from "./files.ts";
import { orNothing, walkSkill } from "./hash/walk-skill.ts";
import type { WalkedFile } from "./hash/walk-skill.ts";

export interface HashedFile {
  readonly path: string;
  readonly size_bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

export interface HashedSkill {
  /** Ordered by code point. */
  readonly files: readonly HashedFile[];
  /** Of the paths and digests of all files; undefined if there are too many or they are too large. */
  readonly digest: string | undefined;
  /** The files exceed `maxBytes`; nothing was hashed. */
  readonly tooLarge?: true;
}

/** Hashes the files of skills; caches unchanged files. */
export interface SkillHasher {
  /** A skill that exceeds `maxBytes` is not read and has neither files nor digest. Default: no limit. */
  hash(
    source: SkillSource,
    directory: string,
    signal: AbortSignal,
    limits?: { readonly maxBytes?: number },
  ): Promise<HashedSkill>;
}

/** Milliseconds of hashing before yielding to the event loop. */
const slice = 3;
const maxAtOnce = 2;
const maxRemembered = 50_000;

export function createSkillHasher(): SkillHasher {
  const remembered = new Map<string, { readonly version: string; readonly sha256: string }>();
  const enter = createSemaphore(maxAtOnce);

  function* hashFile(
    bytes: SkillBytes,
    { path, real }: WalkedFile,
    signal: AbortSignal,
  ): Steps<HashedFile | undefined> {
    const stamp = bytes.stamp(real);
    if (stamp === undefined) return undefined;
    const known = stamp.version === undefined ? undefined : remembered.get(real);
    if (known !== undefined && known.version === stamp.version) return toHashed(path, stamp, known.sha256);
    let sha256: string | undefined;
    const digest = bytes.sha256(real, signal);
    if (digest instanceof Promise) {
      yield digest.then((value) => {
        sha256 = value;
      });
    } else {
      sha256 = digest;
      yield;
    }
    const after = bytes.stamp(real);
    if (sha256 === undefined || after === undefined) return undefined;
    if (after.version !== undefined && after.version === stamp.version) remember(real, after.version, sha256);
    return toHashed(path, after, sha256);
  }

  function* hashAll(
    { files, bytes }: SkillSource,
    directory: string,
    signal: AbortSignal,
    maxBytes: number,
  ): Steps<HashedSkill> {
    if (files.resolve(directory) !== directory) throw gone();
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

  function remember(real: string, version: string, sha256: string): void {
    remembered.delete(real);
    remembered.set(real, { version, sha256 });
    const [oldest] = remembered.keys();
    if (remembered.size > maxRemembered && oldest !== undefined) remembered.delete(oldest);
  }

  return {
    async hash(source, directory, signal, { maxBytes = Infinity } = {}) {
      const leave = await enter();
      try {
        signal.throwIfAborted();
        return await runInSlices(hashAll(source, directory, signal, maxBytes), { now: () => performance.now(), slice });
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

/** The skill's directory moved since the skill was read. */
function gone(): SkillsError {
  const hint = "List the skills again.";
  return new SkillsError("SKILL_NOT_READY", "The skill just changed on disk.", { facts: { hint } });
}

function toHashed(path: string, { size }: FileStamp, sha256: string): HashedFile {
  return { path, size_bytes: size, sha256 };
}

/** `sha256:` and the digest of the output of `sha256sum`: per file a line of digest, two spaces, path. */
function digestOf(files: readonly HashedFile[]): string {
  const lines = createHash("sha256");
  for (const { path, sha256 } of files) lines.update(`${sha256}  ${path}\n`);
  return `sha256:${lines.digest("hex")}`;
}
