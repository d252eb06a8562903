import { createHash, hash, randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, realpathSync, renameSync, rmdirSync, utimesSync, writeFileSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import path from "node:path";
import { attempt, systemCode } from "../../base/failures/system-error.ts";
import { makeOwnDirectories, namesIn } from "../../base/paths/directories.ts";
import { makeTemporary, sweepTemporaryDirectories } from "../../base/processes/temporary-directory.ts";
import { type SkillSource, diskSkillBytes, diskSkillFiles } from "../../skills/files.ts";
import { createSkillHasher } from "../../skills/hash.ts";
import { signatureFile } from "../../skills/skill.ts";
import { badPack } from "./pack-list.ts";
import type { StoredPack } from "./pack-rows.ts";

/** In the names of temporary directories. */
const purpose = "pack";
/** Smaller files are written synchronously, which costs less than opening them asynchronously. */
const maxAtOnce = 256 * 1024;
const ownerOnly = 0o700;

type Places = Readonly<Record<"skills" | "incoming" | "trash", string>>;

/**
 * Where packs lie on this machine; several processes share it.
 *
 *     skills/<digest>/<slug>/…   the files of a digest, which never change; the directory's time is that of the last use
 *     incoming/…                 what is being written
 *     trash/…                    what is being removed
 */
export class LocalPacks {
  readonly #directory: string;
  readonly #now: () => number;
  readonly #source: SkillSource = { files: diskSkillFiles(), bytes: diskSkillBytes() };
  #places: Places | undefined;

  constructor(dataDirectory: string, now: () => number) {
    [this.#directory, this.#now] = [path.join(dataDirectory, "cluster"), now];
  }

  /** The real path of `skills`, and those beside it. Throws UNREADABLE if others could write there. */
  places(): Places {
    if (this.#places !== undefined) return this.#places;
    const make = (name: string): string => {
      const place = path.join(this.#directory, name);
      makeOwnDirectories(this.#directory, ownerOnly);
      makeOwnDirectories(place, ownerOnly);
      return realpathSync.native(place);
    };
    const places = { skills: make("skills"), incoming: make("incoming"), trash: make("trash") };
    sweepTemporaryDirectories(places.incoming, purpose);
    void removeAll(namesIn(places.trash).map((name) => path.join(places.trash, name)));
    return (this.#places = places);
  }

  placeOf(digest: string, slug: string): string {
    return path.join(this.places().skills, digest.replace(/^sha256:/, ""), slug);
  }

  /** Remembers that a directory was used now. False if it is not there. */
  touch(place: string): boolean {
    const now = this.#now() / 1_000;
    return attempt(() => {
      if (!lstatSync(place).isDirectory()) return false;
      utimesSync(path.dirname(place), now, now);
      return true;
    }, false);
  }

  /** Whether a directory has exactly the files of its digest. One that has not is put away. */
  async verify(place: string, digest: string, signal: AbortSignal): Promise<boolean> {
    try {
      // A hasher remembers files, and these are hashed once.
      const found = await createSkillHasher().hash(this.#source, realpathSync.native(place), signal);
      if (found.digest === digest) return true;
    } catch {
      signal.throwIfAborted();
      // It cannot be read.
    }
    this.putAway(place);
    return false;
  }

  /** Writes the files of a pack, verifies each of them, and moves them to their place at once. Throws SOURCE_INVALID for other bytes. */
  async write(place: string, digest: string, pack: StoredPack, signal: AbortSignal): Promise<void> {
    const temporary = makeTemporary(this.places().incoming, purpose);
    const written = path.join(temporary, "skill");
    try {
      mkdirSync(written, { mode: ownerOnly });
      await writePack(written, digest, pack, signal);
      await this.#enter(written, place, digest, signal);
    } finally {
      // Usually it is empty now.
      if (!attempt(() => (rmdirSync(temporary), true), false)) await rm(temporary, { recursive: true, force: true });
    }
  }

  /** Takes a directory away at once; its files are removed afterwards. */
  putAway(place: string): void {
    const away = path.join(this.places().trash, randomBytes(8).toString("hex"));
    // Another process may be faster.
    if (attempt(() => (renameSync(place, away), true), false)) void removeAll([away]);
  }

  async #enter(written: string, place: string, digest: string, signal: AbortSignal): Promise<void> {
    for (let attempts = 0; ; attempts++) {
      mkdirSync(path.dirname(place), { recursive: true, mode: ownerOnly });
      try {
        renameSync(written, place);
        break;
      } catch (error) {
        const isTaken = ["EEXIST", "ENOTEMPTY", "EPERM", "ENOENT"].includes(systemCode(error));
        if (!isTaken || attempts >= 4) throw error;
        // Another process was faster.
        if (await this.verify(place, digest, signal)) break;
      }
    }
    this.touch(place);
  }
}

async function removeAll(places: readonly string[]): Promise<void> {
  for (const place of places) await rm(place, { recursive: true, force: true }).catch(() => undefined);
}

async function writePack(directory: string, digest: string, pack: StoredPack, signal: AbortSignal): Promise<void> {
  const take = takeFrom(pack.parts[Symbol.asyncIterator]());
  const made = new Set<string>();
  for (const file of pack.files) {
    signal.throwIfAborted();
    const place = path.join(directory, ...file.path.split("/"));
    const above = path.dirname(place);
    try {
      if (above !== directory && !made.has(above)) mkdirSync(above, { recursive: true, mode: ownerOnly });
      made.add(above);
      if (await writeFile(place, file.size_bytes, file.sha256, take)) continue;
    } catch (error) {
      if (!["EEXIST", "ENOTDIR", "EISDIR", "ENAMETOOLONG"].includes(systemCode(error))) throw error;
      throw badPack(digest, `the path ${JSON.stringify(file.path)} names the same file as another one here`, error);
    }
    throw badPack(digest, `${JSON.stringify(file.path)} has other bytes`);
  }
  if ((await take(1)) !== undefined) throw badPack(digest, "there are bytes after the last file");
  if (pack.signature !== undefined) writeFileSync(path.join(directory, signatureFile), pack.signature, { mode: 0o400 });
}

type Take = (most: number) => Promise<Uint8Array | undefined>;

/** Takes up to so many bytes from parts; undefined at their end. */
function takeFrom(parts: AsyncIterator<Uint8Array>): Take {
  let rest: Uint8Array = new Uint8Array(0);
  return async (most) => {
    while (rest.length === 0) {
      const next = await parts.next();
      if (next.done === true) return undefined;
      rest = next.value;
    }
    const taken = rest.subarray(0, most);
    rest = rest.subarray(taken.length);
    return taken;
  };
}

/** Whether the bytes of the file were those of its digest. Throws EEXIST where the file is there. */
async function writeFile(place: string, size: number, sha256: string, take: Take): Promise<boolean> {
  let piece = size === 0 ? new Uint8Array(0) : await take(size);
  if (piece === undefined) return false;
  const options = { flag: "wx", mode: piece[0] === 0x23 && piece[1] === 0x21 ? 0o500 : 0o400 };
  if (piece.length === size && size <= maxAtOnce) {
    if (hash("sha256", piece, "hex") !== sha256) return false;
    writeFileSync(place, piece, options);
    return true;
  }
  const digest = createHash("sha256");
  const handle = await open(place, options.flag, options.mode);
  try {
    for (let left = size; piece !== undefined; piece = await take(left)) {
      digest.update(piece);
      await handle.writeFile(piece);
      if ((left -= piece.length) === 0) return digest.digest("hex") === sha256;
    }
    return false;
  } finally {
    await handle.close();
  }
}
