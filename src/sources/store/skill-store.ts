import { randomBytes } from "node:crypto";
import { lstatSync, realpathSync, renameSync, utimesSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { attempt, systemCode } from "../../base/failures/system-error.ts";
import { isWithin } from "../../base/paths/location.ts";
import { SkillsError } from "../../base/errors.ts";
import { remotePathFault } from "../archive/check-path.ts";
import { type CopiedSkill, type StorePaths, copyPath } from "./store-paths.ts";
import { syncDirectory } from "../../base/paths/directories.ts";
import { skillLimits } from "../source.ts";
import type { SkillFile } from "../reader.ts";
import { type SkillSource, diskSkillBytes, diskSkillFiles } from "../../skills/files.ts";
import { type SkillHasher, isHiddenName } from "../../skills/hash.ts";
import { toSlug } from "../../skills/skill.ts";
import { loadManifestReader, needsManifestReader, readDirectory } from "../../skills/skillset.ts";

/** A copy in the store. */
type Copy = Pick<CopiedSkill, "slug" | "digest" | "bytes">;

/** The identity of a copy: the digest of its bytes and its slug. */
type CopyKey = Pick<Copy, "digest" | "slug">;

const maxAttempts = 5;

/** A store of skill versions by their digest. Stored files never change. */
export class SkillStore {
  readonly #paths: StorePaths;
  readonly #hasher: SkillHasher;
  readonly #isDurable: boolean;
  readonly #source: SkillSource = { files: diskSkillFiles(), bytes: diskSkillBytes() };

  /** `isDurable`: whether stored bytes survive a power failure, so that `isWhole` need not be called. Default: true. */
  constructor(paths: StorePaths, hasher: SkillHasher, { isDurable = true }: { readonly isDurable?: boolean } = {}) {
    this.#paths = paths;
    this.#hasher = hasher;
    this.#isDurable = isDurable;
  }

  /**
   * Writes a skill to a temporary directory, syncs it, and moves it to the path of its digest. Throws SOURCE_INVALID for files that are no
   * skill, or not the expected one, and FILE_TOO_LARGE for a skill that is too large.
   */
  async put(name: string, files: readonly SkillFile[], signal: AbortSignal, expected?: CopyKey): Promise<Copy> {
    const temporary = path.join(this.#paths.incoming, randomBytes(8).toString("hex"));
    const written = path.join(temporary, "skill");
    await mkdir(written, { recursive: true, mode: 0o700 });
    try {
      const bytes = await this.#write(written, files, signal);
      const real = realpathSync.native(written);
      const slug = expected?.slug ?? (await this.#slugOf(real, name));
      if (slug === undefined)
        throw unusable(`Neither the skill nor its index has a usable name: ${JSON.stringify(name)}`);
      const { digest } = await this.#hasher.hash(this.#source, real, signal);
      if (digest === undefined) throw tooLarge();
      if (digest !== (expected?.digest ?? digest)) throw unusable(`The files are not those of ${expected?.digest}`);
      const copy: Copy = { slug, digest, bytes };
      await this.#enter(written, copy, signal);
      return copy;
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
  }

  /** Whether a copy exists and has the bytes of its digest. */
  async isWhole(copy: CopyKey, signal: AbortSignal): Promise<boolean> {
    const copyDirectory = copyPath(this.#paths, copy);
    if (!this.has(copy)) return false;
    try {
      const { digest } = await this.#hasher.hash(this.#source, realpathSync.native(copyDirectory), signal);
      return digest === copy.digest;
    } catch {
      signal.throwIfAborted();
      return false; // It cannot be read.
    }
  }

  has(copy: CopyKey): boolean {
    return lstatSync(copyPath(this.#paths, copy), { throwIfNoEntry: false })?.isDirectory() === true;
  }

  /** Removes a copy that does not have the bytes of its digest. Sessions that use it get errors, and soon the next version. */
  discard(copy: CopyKey): void {
    const away = path.join(this.#paths.trash, randomBytes(8).toString("hex"));
    // Another process may be faster. The sweep removes the rest.
    attempt(() => renameSync(copyPath(this.#paths, copy), away), undefined);
    void rm(away, { recursive: true, force: true }).catch(() => undefined);
  }

  /** Notes that a copy was in use at this time, in milliseconds since 1970. */
  touch({ digest, slug }: CopyKey, now: number): void {
    const copyDirectory = path.dirname(copyPath(this.#paths, { digest, slug }));
    // A copy that is gone needs no time.
    attempt(() => utimesSync(copyDirectory, now / 1_000, now / 1_000), undefined);
  }

  /** Returns the slug of the skill in a directory; `name` is its name in the source's index. */
  async #slugOf(directory: string, name: string): Promise<string | undefined> {
    const expected = toSlug(name);
    await loadManifestReader();
    const record = readDirectory(directory, expected ?? name, { files: this.#source.files });
    return (record === needsManifestReader ? undefined : record?.skill?.slug) ?? expected;
  }

  async #write(directory: string, files: readonly SkillFile[], signal: AbortSignal): Promise<number> {
    const shown = files.filter((file) => {
      if (file.path.split(/[/\\]/).some((name) => ["", ".", ".."].includes(name))) throw badPath(file.path);
      return !file.path.split("/").some((name) => isHiddenName(name));
    });
    if (shown.length > skillLimits.files) throw tooLarge();
    const made = new Set<string>([directory]);
    let bytes = 0;
    for (const file of shown) {
      signal.throwIfAborted();
      bytes += file.bytes.length;
      if (bytes > skillLimits.bytes) throw tooLarge();
      const target = path.join(directory, file.path);
      if (remotePathFault(file.path) !== undefined || !isWithin(target, directory)) throw badPath(file.path);
      try {
        await makeAbove(target, made);
        await writeFile(target, file.bytes, {
          flag: "wx",
          mode: file.executable ? 0o500 : 0o400,
          flush: this.#isDurable,
        });
      } catch (error) {
        // Two paths are one file on this file system, or one is a directory of the other.
        if (["EEXIST", "ENOTDIR", "EISDIR"].includes(systemCode(error))) throw badPath(file.path);
        throw error;
      }
    }
    await this.#sync(made);
    return bytes;
  }

  async #enter(written: string, copy: Copy, signal: AbortSignal): Promise<void> {
    const target = copyPath(this.#paths, copy);
    for (let attempt = 1; ; attempt++) {
      await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
      if (this.has(copy)) {
        if (await this.isWhole(copy, signal)) return;
        this.discard(copy);
      }
      try {
        renameSync(written, target);
        break;
      } catch (error) {
        // Another process stored the same copy, or swept its directory.
        const isTaken = ["EEXIST", "ENOTEMPTY", "EPERM", "ENOENT"].includes(systemCode(error));
        if (!isTaken || attempt >= maxAttempts) throw error;
      }
    }
    await this.#sync([path.dirname(target), this.#paths.store]);
  }

  async #sync(directories: Iterable<string>): Promise<void> {
    if (this.#isDurable) for (const directory of directories) await syncDirectory(directory);
  }
}

async function makeAbove(file: string, made: Set<string>): Promise<void> {
  const above = path.dirname(file);
  if (made.has(above)) return;
  await makeAbove(above, made);
  await mkdir(above, { mode: 0o700 });
  made.add(above);
}

function tooLarge(): SkillsError {
  const limits = `${skillLimits.files} files and ${skillLimits.bytes / 1024 / 1024} MiB`;
  return new SkillsError("FILE_TOO_LARGE", `The skill is too large; the limits are ${limits}.`);
}

function badPath(file: string): SkillsError {
  return unusable(`The skill has a file that cannot be stored: ${JSON.stringify(file)}`);
}

function unusable(why: string): SkillsError {
  return new SkillsError("SOURCE_INVALID", `${why}.`);
}
