import { realpathSync } from "node:fs";
import path from "node:path";
import { type Clock, every } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { SkillsError } from "../../base/errors.ts";
import { LimitedMap } from "../../base/limited-map.ts";
import { TurnLock } from "../../base/processes/turn-lock.ts";
import { joinPath } from "../../base/paths/at-real-path.ts";
import { runInSlices, unlessAborted } from "../../base/promises.ts";
import { type SkillSource, diskSkillBytes, diskSkillFiles } from "../../skills/files.ts";
import { type SkillHasher, createSkillHasher, walkSkill } from "../../skills/hash.ts";
import { maxBundleBytes } from "../../skills/signature.ts";
import { type Skill, isSlug, signatureFile } from "../../skills/skill.ts";
import { skillLimits } from "../../sources/source.ts";
import { SkillStore, type StorePaths, copyPath, makeStorePaths, storePaths, sweepStore } from "../../sources/store.ts";
import type { Database } from "../database.ts";
import type { SkillPacks } from "../skills.ts";
import { digestBytes } from "./pack-list.ts";
import { expirePacks, insertPack, readPack, readFiles, touchPack } from "./pack-rows.ts";

export interface SkillPacksOptions {
  readonly dataDirectory: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The time in milliseconds since 1970, by the clock of this machine. */
  readonly now?: () => number;
}

type Copy = Parameters<SkillStore["has"]>[0];

/** The time after which a stored pack is touched again, so that it is not removed as unused. */
const knownForMs = 60 * 60 * 1_000;
const maxKnown = 20_000;
const sweepEveryMs = 60 * 60 * 1_000;
/** The maximum number of batches per sweep; the next sweep goes on. */
const maxBatches = 100;

/** Opens the packs of a cluster. Nothing is read or written before their first use. */
export function openSkillPacks(database: Database, options: SkillPacksOptions): SkillPacks {
  const { dataDirectory, clock, log, now = Date.now } = options;
  const hasher = createSkillHasher();
  const source: SkillSource = { files: diskSkillFiles(), bytes: diskSkillBytes() };
  /** The times when packs were last known to be stored, by digest. */
  const known = new LimitedMap<string, number>(maxKnown);
  const storing = new Map<string, Promise<void>>();
  const ensuring = new Map<string, Promise<void>>();
  const verified = new LimitedMap<string, true>(maxKnown);
  const closing = new AbortController();
  const closed = closing.signal;
  // Members do not sweep all at once.
  const stopSweeping = every(clock, () => sweepEveryMs * (0.5 + Math.random()), sweep);
  /** A hasher without memory: each file is hashed only once. */
  const forgetful: SkillHasher = { hash: (...given) => createSkillHasher().hash(...given) };
  let opened: { readonly paths: StorePaths; readonly copies: SkillStore } | undefined;

  /** Opens the copies on this machine. Throws UNREADABLE if other users can write there. */
  function open(): NonNullable<typeof opened> {
    if (opened !== undefined) return opened;
    makeStorePaths(storePaths(dataDirectory, "cluster"));
    const paths = storePaths(realpathSync.native(dataDirectory), "cluster");
    return (opened = { paths, copies: new SkillStore(paths, forgetful, { isDurable: false }) });
  }

  async function sweep(): Promise<void> {
    try {
      const { paths } = open();
      await sweepStore(paths, new TurnLock(paths.turns), now());
      for (let batch = 0; batch < maxBatches && !closed.aborted; batch++)
        if ((await expirePacks(database)) === 0) return;
    } catch (error) {
      if (!closed.aborted) log("warning", `Unused files of skills were not removed: ${String(error)}`);
    }
  }

  async function storeNow({ directory, name }: Pick<Skill, "directory" | "name">, digest: string): Promise<void> {
    if (!(await touchPack(database, digest))) {
      const hashed = await hasher.hash(source, directory, closed, { maxBytes: skillLimits.bytes });
      if (hashed.tooLarge || hashed.files.length > skillLimits.files) throw tooLarge(name);
      if (hashed.digest !== digest) throw unready(`The skill ${name} just changed on disk.`, "List the skills again.");
      const { files } = await runInSlices(walkSkill(source.files, directory));
      const reals = new Map(files.map(({ path, real }) => [path, real]));
      const packed = hashed.files.map((file) => ({ ...file, real: reals.get(file.path) ?? "" }));
      const signature = source.bytes.head(joinPath(directory, signatureFile), maxBundleBytes)?.bytes;
      await insertPack(database, { digest, files: packed, signature, bytes: readFiles(packed) }, closed);
    }
    known.delete(digest);
    known.set(digest, clock.now());
  }

  async function ensureNow(copy: Copy): Promise<void> {
    const { copies: store } = open();
    if (store.has(copy)) {
      store.touch(copy, now());
      if (await store.isWhole(copy, closed)) return;
      store.discard(copy);
    }
    const files = await readPack(database, copy.digest);
    if (files === undefined)
      throw unready(
        `Nobody has stored the files of ${copy.digest} in the cluster.`,
        "Call the skill again: its files are stored with the next run.",
      );
    await store.put(copy.slug, files, closed, copy);
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
      const { paths, copies } = open();
      const [copy, target] = [{ digest, slug }, copyPath(paths, { digest, slug })];
      if (verified.has(target) && copies.has(copy)) copies.touch(copy, now());
      else await once(ensuring, target, signal, () => ensureNow(copy));
      if (!isPublished) verified.set(target, true);
      return target;
    },
    keep(directory) {
      const [digest, slug] = [path.basename(path.dirname(directory)), path.basename(directory)];
      open().copies.touch({ digest, slug }, now());
    },
    close() {
      closing.abort(new SkillsError("CLOSED", "The files of skills were closed."));
      stopSweeping();
      return Promise.resolve();
    },
  };
}

/** Does one work per key at a time. If one of its callers gives up, the work goes on for the others. */
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
  const limits = `${skillLimits.files} files and ${skillLimits.bytes / 1024 / 1024} MiB`;
  return new SkillsError("FILE_TOO_LARGE", `The skill ${name} is too large for the cluster; the limits are ${limits}.`);
}

function unready(message: string, hint: string): SkillsError {
  return new SkillsError("SKILL_NOT_READY", message, { facts: { hint } });
}
