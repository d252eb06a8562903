import path from "node:path";
import type { Clock } from "../../base/clock.ts";
import { withinTime } from "../../base/clock.ts";
import { SkillsError } from "../../base/errors.ts";
import { type Log, createOnceLog } from "../../base/log.ts";
import { type Steps, latestWork, runInSlices } from "../../base/promises.ts";
import { diskSkillFiles } from "../../skills/files.ts";
import type { Skill } from "../../skills/skill.ts";
import { loadManifestReader, needsManifestReader, readDirectory } from "../../skills/skillset.ts";
import type { Database } from "../database.ts";
import { isOutage } from "../database/database-error.ts";
import { type SkillPacks, toStoredPack } from "../skills.ts";
import type { CatalogFile } from "./catalog-file.ts";
import { toCompactSkill } from "./compact-skill.ts";
import type { PublishedSkills, VersionChange } from "./published-skills.ts";
import { type CatalogEntry, type CatalogRow, isCatalogEntry, readCatalogState, readChanges } from "./read-catalog.ts";

/** Changes arrive as messages; this finds what got lost, and renews the age. */
const lookEveryMs = 30_000;
const retryAfterMs = 5_000;
/** Sessions wait so long for the first look. */
const readyWithinMs = 5_000;
/** While many changes are read, lists are replaced this often. */
const replaceEveryMs = 1_000;
/** At each look, for those that could not be had before. */
const maxRetries = 100;

export interface FollowOptions {
  readonly database: Database;
  readonly packs: SkillPacks;
  readonly file: CatalogFile;
  readonly published: PublishedSkills;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds since 1970, by the clock of this machine. */
  readonly now: () => number;
  /** How far the clock of the database is ahead. */
  readonly onDatabaseTime: (ahead: number) => void;
}

type MissingVersion = Omit<CatalogEntry, "revision">;

/** Reads what is published: from the file of this machine at first, then from the database, for as long as it is open. */
export class CatalogFollower {
  /** Resolves when the list is usable; never rejects. */
  readonly ready: Promise<void>;
  readonly #options: FollowOptions;
  readonly #closed = new AbortController();
  readonly #files = diskSkillFiles();
  readonly #look: () => Promise<void>;
  readonly #problems: ReturnType<typeof createOnceLog>;
  /** Published, but not here. */
  readonly #missing = new Map<string, MissingVersion>();
  #database = { id: "", revision: 0 };
  #readAt: number | undefined;
  #isReported = false;
  #stopWaiting = (): void => undefined;
  readonly #stopListening: () => void;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#problems = createOnceLog(options.log);
    this.#look = latestWork(
      async () => await this.#lookOnce(),
      (error) => this.#failed(error),
    );
    const loading = this.#load().catch((error: unknown) => {
      options.log("warning", `The list of published skills on this machine was not read: ${String(error)}`);
    });
    const look = (): void => void loading.then(async () => await this.#look());
    this.#stopListening = options.database.listen("acp_skills_catalog", look, look);
    const first = loading.then(async () => await this.#look());
    this.ready = withinTime(first, options.clock, readyWithinMs);
    void loading.then(async () => await this.#verifyAll());
  }

  /** Milliseconds since the list was that of the database; undefined if it never was. */
  age(): number | undefined {
    return this.#readAt === undefined ? undefined : Math.max(0, this.#options.now() - this.#readAt);
  }

  close(): void {
    this.#closed.abort(new SkillsError("CLOSED", "The catalog was closed."));
    this.#stopWaiting();
    this.#stopListening();
  }

  /** What this machine had before. */
  async #load(): Promise<void> {
    await loadManifestReader();
    const saved = await this.#options.file.read();
    if (saved === undefined) return;
    this.#database = { id: saved.id, revision: saved.revision };
    const changes: VersionChange[] = [];
    await runInSlices(this.#readAll(saved.entries, changes));
    this.#options.published.apply(changes);
    this.#readAt = saved.readAt;
  }

  *#readAll(entries: readonly CatalogEntry[], changes: VersionChange[]): Steps<void> {
    for (const entry of entries) {
      if (entry.digest === undefined) continue;
      const skill = this.#readSkill(this.#options.packs.placeOf(entry.digest, entry.slug), entry);
      if (typeof skill === "string") this.#missing.set(keyOf(entry), entry);
      else changes.push(toChange(entry, skill));
      yield;
    }
  }

  /** Hashes what was loaded, a little at a time; what is damaged is downloaded again, or not offered. */
  async #verifyAll(): Promise<void> {
    const { published, packs } = this.#options;
    for (const { skill: current } of published.offers) {
      const { slug } = current;
      for (const [version, { skill, publishedAt }] of published.versionsOf(slug)) {
        if (this.#closed.signal.aborted) return;
        const digest = `sha256:${path.basename(path.dirname(skill.directory))}`;
        await packs.ensure(digest, slug, this.#closed.signal, { isPublished: true }).catch(() => {
          // It may have been withdrawn meanwhile.
          const isCurrent = published.versionsOf(slug).get(version)?.skill === skill;
          if (this.#closed.signal.aborted || !isCurrent) return;
          this.#missing.set(keyOf(skill), { slug, version, digest, publishedAt });
          published.apply([{ slug, version, published: undefined }]);
        });
      }
    }
  }

  async #lookOnce(): Promise<void> {
    if (this.#closed.signal.aborted) return;
    this.#stopWaiting();
    const { database, published, file, now, onDatabaseTime } = this.#options;
    const state = await readCatalogState(database);
    onDatabaseTime(state.now - now());
    if (state.id !== this.#database.id || state.revision < this.#database.revision) this.#beginAnew(state.id);
    let changes: VersionChange[] = [];
    let replacedAt = now();
    while (this.#database.revision < state.revision) {
      const rows = await readChanges(database, this.#database.revision);
      const known = rows.filter(isCatalogEntry);
      for (const row of known) changes.push(...(await this.#toChange(row)));
      if (known.length > 0) file.append(known);
      const revision = rows.at(-1)?.revision ?? state.revision;
      this.#database = { id: state.id, revision };
      if (revision < state.revision && now() - replacedAt < replaceEveryMs) continue;
      published.apply(changes);
      [changes, replacedAt] = [[], now()];
    }
    for (const entry of [...this.#missing.values()].slice(0, maxRetries))
      changes.push(...(await this.#toChange(entry)));
    published.apply(changes);
    published.grow();
    this.#succeeded();
  }

  /** The list was that of another database, or of one that was restored from a copy. */
  #beginAnew(id: string): void {
    this.#options.published.clear();
    this.#missing.clear();
    this.#options.file.replace({ id, entries: [] });
    this.#database = { id, revision: 0 };
  }

  async #toChange({ pack, ...entry }: MissingVersion & Partial<CatalogRow>): Promise<readonly VersionChange[]> {
    const { slug, version, digest } = entry;
    const { packs, database } = this.#options;
    this.#missing.delete(keyOf(entry));
    if (digest === undefined) return [{ slug, version, published: undefined }];
    try {
      const stored = pack && toStoredPack(database, digest, pack);
      const place = await packs.ensure(digest, slug, this.#closed.signal, { isPublished: true, stored });
      const skill = this.#readSkill(place, entry);
      if (typeof skill !== "string") return [toChange(entry, skill)];
      this.#problems.logOnce("warning", `The published skill ${slug} ${version} is not offered: ${skill}.`);
    } catch (error) {
      if (isOutage(error) || this.#closed.signal.aborted) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      this.#problems.logOnce("warning", `The published skill ${slug} ${version} is not here: ${reason}`);
      this.#missing.set(keyOf(entry), entry);
    }
    return [];
  }

  /** The skill in a directory, or why it is not the published one. */
  #readSkill(directory: string, { slug, version }: Pick<CatalogEntry, "slug" | "version">): Skill | string {
    const record = readDirectory(directory, slug, { files: this.#files });
    const skill = record === needsManifestReader ? undefined : record?.skill;
    if (skill === undefined) return "its files are no skill";
    if (skill.slug !== slug || skill.version !== version) return `its files are ${skill.slug} ${skill.version}`;
    return toCompactSkill(skill);
  }

  #succeeded(): void {
    const { now, file, log, clock } = this.#options;
    this.#readAt = now();
    file.touch(this.#readAt);
    if (this.#isReported) log("info", "The published skills of the cluster are up to date again.");
    this.#isReported = false;
    this.#waitFor(lookEveryMs, clock);
  }

  #failed(error: unknown): void {
    if (this.#closed.signal.aborted) return;
    const { log, published, clock } = this.#options;
    const age = this.age();
    const since =
      age === undefined ? "" : `; the ${published.offers.length} skills here are as they were ${inWords(age)} ago`;
    const reason = error instanceof Error ? error.message : String(error);
    if (!this.#isReported) log("warning", `The published skills of the cluster cannot be read${since}: ${reason}`);
    this.#isReported = true;
    this.#waitFor(retryAfterMs, clock);
  }

  #waitFor(milliseconds: number, clock: Clock): void {
    this.#stopWaiting();
    if (!this.#closed.signal.aborted) this.#stopWaiting = clock.after(milliseconds, () => void this.#look());
  }
}

function keyOf({ slug, version }: Pick<CatalogEntry, "slug" | "version">): string {
  return `${slug} ${version}`;
}

function toChange({ slug, version, publishedAt }: MissingVersion, skill: Skill): VersionChange {
  return { slug, version, published: { skill, publishedAt } };
}

function inWords(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1_000);
  return seconds < 120 ? `${seconds} seconds` : `${Math.round(seconds / 60)} minutes`;
}
