import { type Clock, every } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { SkillsError } from "../../base/errors.ts";
import { LimitedMap } from "../../base/limited-map.ts";
import { joinPath } from "../../base/paths/at-real-path.ts";
import { runInSlices, unlessAborted } from "../../base/promises.ts";
import { type SkillSource, diskSkillBytes, diskSkillFiles } from "../../skills/files.ts";
import { createSkillHasher, walkSkill } from "../../skills/hash.ts";
import { maxBundleBytes } from "../../skills/signature.ts";
import { type Skill, isSlug, signatureFile } from "../../skills/skill.ts";
import type { Database } from "../database.ts";
import type { SkillPacks } from "../skills.ts";
import { LocalPacks } from "./local-packs.ts";
import { digestBytes, maxPackBytes, maxPackFiles } from "./pack-list.ts";
import { insertPack, readPack, readFiles, touchPack } from "./pack-rows.ts";
import { sweepPacks } from "./sweep-packs.ts";

export interface SkillPacksOptions {
  readonly dataDirectory: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds since 1970, by the clock of this machine. */
  readonly now?: () => number;
}

/** What is stored is asked for again after this time, so that it is not removed as unused. */
const knownForMs = 60 * 60 * 1_000;
const maxKnown = 20_000;
const sweepEveryMs = 60 * 60 * 1_000;

/** Opens the packs of a cluster. Nothing is read or written until it is used. */
export function openSkillPacks(database: Database, options: SkillPacksOptions): SkillPacks {
  const { dataDirectory, clock, log, now = Date.now } = options;
  const hasher = createSkillHasher();
  const source: SkillSource = { files: diskSkillFiles(), bytes: diskSkillBytes() };
  const local = new LocalPacks(dataDirectory, now);
  /** When it was known to be stored. */
  const known = new LimitedMap<string, number>(maxKnown);
  const storing = new Map<string, Promise<void>>();
  const ensuring = new Map<string, Promise<void>>();
  const verified = new LimitedMap<string, true>(maxKnown);
  const closed = new AbortController();
  const stopSweeping = every(
    clock,
    // Not all members at once.
    () => sweepEveryMs * (0.5 + Math.random()),
    () =>
      sweepPacks({ database, local, now: now(), signal: closed.signal }).catch((error: unknown) => {
        if (!closed.signal.aborted) log("warning", `Unused files of skills were not removed: ${String(error)}`);
      }),
  );

  async function storeNow({ directory, name }: Pick<Skill, "directory" | "name">, digest: string): Promise<void> {
    const { signal } = closed;
    if (!(await touchPack(database, digest))) {
      const hashed = await hasher.hash(source, directory, signal, { maxBytes: maxPackBytes });
      if (hashed.tooLarge || hashed.files.length > maxPackFiles) throw tooLarge(name);
      if (hashed.digest !== digest) throw unready(`The skill ${name} just changed on disk.`, "List the skills again.");
      const { files } = await runInSlices(walkSkill(source.files, directory));
      const reals = new Map(files.map(({ path, real }) => [path, real]));
      const packed = hashed.files.map((file) => ({ ...file, real: reals.get(file.path) ?? "" }));
      const signature = source.bytes.head(joinPath(directory, signatureFile), maxBundleBytes)?.bytes;
      await insertPack(database, { digest, files: packed, signature, bytes: readFiles(packed) }, signal);
    }
    known.delete(digest);
    known.set(digest, clock.now());
  }

  async function ensureNow(place: string, digest: string): Promise<void> {
    const { signal } = closed;
    if (local.touch(place) && (await local.verify(place, digest, signal))) return;
    const pack = await readPack(database, digest);
    if (pack === undefined)
      throw unready(
        `Nobody has stored the files of ${digest} in the cluster.`,
        "Call the skill again: its files are stored with the next run.",
      );
    await local.write(place, digest, pack, signal);
  }

  return {
    async store(skill, digest, signal) {
      signal.throwIfAborted();
      const since = known.get(digest);
      if (since !== undefined && clock.now() - since < knownForMs) return;
      await once(storing, digest, signal, () => storeNow(skill, digest));
    },
    async ensure(digest, slug, signal, { isPublished = false } = {}) {
      signal.throwIfAborted();
      digestBytes(digest);
      if (!isSlug(slug)) throw new SkillsError("SOURCE_INVALID", `${JSON.stringify(slug)} is no name of a skill.`);
      const place = local.placeOf(digest, slug);
      if (verified.has(place) && local.touch(place)) return place;
      await once(ensuring, place, signal, () => ensureNow(place, digest));
      if (!isPublished) verified.set(place, true);
      return place;
    },
    keep: (directory) => void local.touch(directory),
    close() {
      closed.abort(new SkillsError("CLOSED", "The files of skills were closed."));
      stopSweeping();
      return Promise.resolve();
    },
  };
}

/** One work a key at a time, which goes on for the others when one of its callers gives up. */
async function once<Result>(
  running: Map<string, Promise<Result>>,
  key: string,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  let current = running.get(key);
  if (current === undefined) {
    current = work().finally(() => running.delete(key));
    running.set(key, current);
  }
  return await unlessAborted(current, signal);
}

function tooLarge(name: string): SkillsError {
  const limits = `${maxPackFiles} files and ${maxPackBytes / 1024 / 1024} MiB`;
  return new SkillsError("FILE_TOO_LARGE", `The skill ${name} is too large for the cluster; the limits are ${limits}.`);
}

function unready(message: string, hint: string): SkillsError {
  return new SkillsError("SKILL_NOT_READY", message, { facts: { hint } });
}
