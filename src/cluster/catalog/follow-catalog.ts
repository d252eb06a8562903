import { type Clock, every } from "../../base/clock.ts";
import { SkillsError } from "../../base/errors.ts";
import { type Log, createOnceLog } from "../../base/log.ts";
import { type Steps, inParallel, runInSlices } from "../../base/promises.ts";
import { diskSkillFiles } from "../../skills/files.ts";
import type { Skill } from "../../skills/skill.ts";
import { loadManifestReader, needsManifestReader, readDirectory } from "../../skills/skillset.ts";
import type { Database } from "../database.ts";
import { isOutage } from "../database/database-error.ts";
import { type Follower, follow } from "../database/follow.ts";
import type { SkillPacks } from "../skills.ts";
import { toCompactSkill } from "./compact-skill.ts";
import type { PublishedSkills, VersionChange } from "./published-skills.ts";
import { type CatalogEntry, isCatalogEntry, readCatalogState, readChanges } from "./read-catalog.ts";

/** The interval at which lists are replaced while many changes are read. */
const replaceEveryMs = 1_000;
/** The maximum number of versions whose files are downloaded or verified at a time. */
const atOnce = 4;
/** The maximum number of missing versions that each read tries again. */
const maxRetries = 100;
/** The interval at which files are marked as used, shorter than the time after which unused files are removed. */
const keepEveryMs = 20 * 60_000;

interface FollowOptions {
  readonly database: Database;
  readonly packs: SkillPacks;
  readonly published: PublishedSkills;
  readonly clock: Clock;
  readonly log: Log;
}

/** Offers the published skills, with verified files on this machine, until it is closed. */
export function followCatalog(options: FollowOptions): Follower {
  const { database, packs, published, clock, log } = options;
  const closed = new AbortController();
  const files = diskSkillFiles();
  const problems = createOnceLog(log);
  /** Published versions whose files are not on this machine. */
  const missing = new Map<string, CatalogEntry>();
  let known = { id: "", revision: 0 };

  async function read(): Promise<void> {
    await loadManifestReader();
    const state = await readCatalogState(database);
    // It is another database, or one that was restored from a copy.
    if (state.id !== known.id || state.revision < known.revision) {
      published.clear();
      missing.clear();
      known = { id: state.id, revision: 0 };
    }
    while (known.revision < state.revision) await readSome(state);
    published.apply(await toChanges([...missing.values()].slice(0, maxRetries)));
    published.grow();
  }

  /** Reads changes until the list has to be replaced, or none is left. */
  async function readSome({ id, revision }: { readonly id: string; readonly revision: number }): Promise<void> {
    const changes: VersionChange[] = [];
    const until = clock.now() + replaceEveryMs;
    try {
      while (known.revision < revision && clock.now() < until) {
        const rows = await readChanges(database, known.revision, clock.now());
        changes.push(...(await toChanges(rows.filter(isCatalogEntry))));
        known = { id, revision: rows.at(-1)?.revision ?? revision };
      }
    } finally {
      published.apply(changes);
    }
  }

  async function toChanges(entries: readonly CatalogEntry[]): Promise<readonly VersionChange[]> {
    return (await inParallel(entries, atOnce, toChange)).flat();
  }

  async function toChange(entry: CatalogEntry): Promise<readonly VersionChange[]> {
    const { slug, version, digest, publishedAt } = entry;
    const key = `${slug} ${version}`;
    if (digest === undefined) {
      missing.delete(key);
      return [{ slug, version, published: undefined }];
    }
    try {
      const skill = readSkill(await packs.ensure(digest, slug, closed.signal, { isPublished: true }), entry);
      missing.delete(key);
      if (typeof skill !== "string") return [{ slug, version, published: { skill, publishedAt } }];
      problems.logOnce("warning", `The published skill ${slug} ${version} is not offered: ${skill}.`);
    } catch (error) {
      if (isOutage(error) || closed.signal.aborted) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      problems.logOnce("warning", `The published skill ${slug} ${version} is not here: ${reason}`);
      missing.set(key, entry);
    }
    return [];
  }

  /** Returns the skill in a directory, or the reason why it is not the published one. */
  function readSkill(directory: string, { slug, version }: CatalogEntry): Skill | string {
    const record = readDirectory(directory, slug, { files });
    const skill = record === needsManifestReader ? undefined : record?.skill;
    if (skill === undefined) return "its files are no skill";
    if (skill.slug !== slug || skill.version !== version) return `its files are ${skill.slug} ${skill.version}`;
    return toCompactSkill(skill);
  }

  function* keepAll(): Steps<void> {
    for (const directory of published.directories()) {
      packs.keep(directory);
      yield;
    }
  }

  const followed = { channel: "acp_skills_catalog", what: "published skills", read } as const;
  const { close, ...following } = follow(database, followed, options);
  const stopKeeping = every(clock, keepEveryMs, async () => await runInSlices(keepAll()));
  return {
    ...following,
    close() {
      closed.abort(new SkillsError("CLOSED", "The catalog was closed."));
      stopKeeping();
      close();
    },
  };
}
