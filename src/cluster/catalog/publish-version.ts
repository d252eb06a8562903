import { SkillsError } from "../../base/errors.ts";
import type { Database, Queries } from "../database.ts";
import { digestBytes } from "../skills.ts";

/** The maximum number of versions of a skill: each server has all of them in memory. */
const maxVersions = 200;
const maxSkills = 250_000;

export interface VersionToPublish {
  readonly slug: string;
  readonly name: string;
  readonly version: string;
  /** The digest of files that are stored already. */
  readonly digest: string;
  /** The publisher, as it calls itself. */
  readonly by: string;
}

/**
 * Publishes a version for all members. False if it is published already. Throws PERMISSION_DENIED if the version has other content or
 * another skill has the name. Throws QUOTA_EXCEEDED at a limit, and SKILL_NOT_READY without stored files.
 */
export async function publishVersion(database: Database, one: VersionToPublish): Promise<boolean> {
  const { slug, name, version, digest, by } = one;
  return await database.transaction(async (queries) => {
    await lockRevision(queries);
    const known = await queries.query<{ name: string; version: string; digest: string; withdrawn: boolean }>(
      `select name, version, 'sha256:' || encode(digest, 'hex') as digest, withdrawn_at is not null as withdrawn
       from acp_skills.catalog where slug = $1`,
      [slug],
    );
    const before = known.find((other) => other.version === version);
    if (before !== undefined && before.digest !== digest)
      throw refused(
        `${name} ${version} is published with other content (${before.digest}), and versions never change; give the skill another version`,
      );
    if (before?.withdrawn === false) return false;
    const other = known.find((row) => row.name !== name);
    if (other !== undefined) throw refused(`the name ${slug} is that of the published skill ${other.name}`);
    await expectRoom(queries, known.length, name);
    const stored = await queries.query(
      "update acp_skills.skill_packs set used_at = now() where digest = $1 returning 1",
      [digestBytes(digest)],
    );
    if (stored.length === 0)
      throw new SkillsError("SKILL_NOT_READY", `${name} ${version} is not published: its files were not stored.`);
    await queries.query(
      `insert into acp_skills.catalog (slug, version, name, digest, revision, published_by) values ($1, $2, $3, $4, $5, $6)
       on conflict (slug, version) do update set withdrawn_at = null, revision = excluded.revision`,
      [slug, version, name, digestBytes(digest), await nextRevision(queries), by.slice(0, 256)],
    );
    return true;
  });
}

/** Withdraws a version of a skill, or all, and returns the withdrawn versions. Their files stay for runs that have begun. */
export async function withdrawVersions(
  database: Database,
  { name, version }: { readonly name: string; readonly version?: string | undefined },
): Promise<readonly string[]> {
  return await database.transaction(async (queries) => {
    await lockRevision(queries);
    const rows = await queries.query<{ slug: string; version: string }>(
      `select slug, version from acp_skills.catalog
       where (slug = $1 or name = $1) and ($2::text is null or version = $2) and withdrawn_at is null`,
      [name, version ?? null],
    );
    for (const row of rows)
      await queries.query(
        "update acp_skills.catalog set withdrawn_at = now(), revision = $3 where slug = $1 and version = $2",
        [row.slug, row.version, await nextRevision(queries)],
      );
    return rows.map((row) => row.version);
  });
}

/** Lets nobody else publish until the transaction ends. */
async function lockRevision(queries: Queries): Promise<void> {
  await queries.query("select revision from acp_skills.catalog_revision for update");
}

/** Returns the next revision. The members are notified of it when the transaction commits. */
async function nextRevision(queries: Queries): Promise<number> {
  const [row] = await queries.query<{ revision: number }>(
    `with next as (update acp_skills.catalog_revision set revision = revision + 1 returning revision)
     select revision::float8 as revision, pg_notify('acp_skills_catalog', revision::text) from next`,
  );
  return row?.revision ?? 0;
}

async function expectRoom(queries: Queries, versions: number, name: string): Promise<void> {
  if (versions >= maxVersions) throw full(`${name} has ${maxVersions} versions, the limit of a skill`);
  if (versions > 0) return;
  const [row] = await queries.query<{ skills: number }>(
    "select count(distinct slug)::float8 as skills from acp_skills.catalog",
  );
  if ((row?.skills ?? 0) >= maxSkills) throw full(`the cluster has ${maxSkills} skills, its limit`);
}

function refused(why: string): SkillsError {
  return new SkillsError("PERMISSION_DENIED", `It is not published: ${why}.`);
}

function full(why: string): SkillsError {
  return new SkillsError("QUOTA_EXCEEDED", `It is not published: ${why}.`);
}
