import { createHash } from "node:crypto";
import { type BlobOptions, type ListedBlob, type StoredBlob, quotaRefusal } from "../../runtime/blobs.ts";
import { SkillsError } from "../../base/errors.ts";
import type { Database, Queries } from "../database.ts";

/** Returns the hash by which owners are compared. JSON distinguishes lone surrogates, which UTF-8 does not. */
export function toOwnerHash(owner: string): Buffer {
  return createHash("sha256").update(JSON.stringify(owner)).digest();
}

/** A blob that does not exist yet. */
interface NewBlob extends Omit<StoredBlob, "sha256"> {
  readonly owner: string;
  readonly sha256: Buffer;
  readonly digests: Buffer;
  /** The time in milliseconds since 1970; undefined for that of the database. */
  readonly now: number | undefined;
}

/**
 * Makes an upload the bytes of a new blob. Locks its content, then the usage of its owner, then the total usage. Throws QUOTA_EXCEEDED,
 * after which the transaction must not be committed. Throws RUNTIME_BUSY if the upload was removed because its writer seemed to be gone.
 * Returns the upload that it replaced, if any.
 */
export async function insertBlob(
  transaction: Queries,
  upload: number,
  blob: NewBlob,
  settings: Required<BlobOptions>,
): Promise<number | undefined> {
  const rows = await transaction.query<{ isTotal: boolean; bytes: number; blobs: number; replaced: number | null }>(
    `with upload as (
       update acp_skills.blob_uploads set state = 'used', holder = null, size = $2, digests = $3
       where id = $1 and state = 'writing' returning id
     ), content as (
       insert into acp_skills.blob_contents (sha256, upload) select $4, id from upload
       on conflict (sha256) do update set replaced = blob_contents.upload, upload = excluded.upload
       returning replaced
     ), blob as (
       insert into acp_skills.blobs (id, owner, owner_json, kind, size, sha256, created_at, expires_at)
       select $5, $6, $7, $8, $2, $4, at, at + make_interval(secs => $9)
       from content, coalesce(to_timestamp($10::float8 / 1000), now()) as at
     ), usage as (
       insert into acp_skills.blob_usage (owner, bytes, blobs)
       select owner, $2, 1 from content, (values (1, $6::bytea), (2, '')) as counted (place, owner) order by place
       on conflict (owner) do update set bytes = blob_usage.bytes + excluded.bytes, blobs = blob_usage.blobs + 1
       returning owner, bytes - $2 as bytes, blobs - 1 as blobs
     )
     select owner = '' as "isTotal", bytes::float8 as bytes, blobs::float8 as blobs, replaced::float8 as replaced
     from usage, content order by 1`,
    [
      ...[upload, blob.size, blob.digests, blob.sha256, blob.id, toOwnerHash(blob.owner)],
      ...[JSON.stringify(blob.owner), blob.kind, settings.ttlMs / 1000, blob.now ?? null],
    ],
  );
  const [own, total] = rows;
  if (own === undefined || total === undefined)
    throw new SkillsError("RUNTIME_BUSY", "The blob was not stored: the database was not reached for too long.");
  const refusal = quotaRefusal({ total, of: () => own }, "", blob.size, settings);
  if (refusal !== undefined) throw refusal;
  if (own.replaced === null) return undefined;
  // A separate statement sees an upload that was finished while the first statement waited.
  await transaction.query("update acp_skills.blob_uploads set state = 'unused' where id = $1", [own.replaced]);
  return own.replaced;
}

/** Returns the metadata of a blob; undefined if the owner has no blob with this id. */
export async function selectBlob(queries: Queries, owner: string, id: string): Promise<StoredBlob | undefined> {
  const [row] = await queries.query<StoredBlob>(
    `select id, size::float8 as size, kind, encode(sha256, 'hex') as sha256
     from acp_skills.blobs where id = $1 and owner = $2`,
    [id, toOwnerHash(owner)],
  );
  return row;
}

/** Yields every blob, ordered by id. Reads 500 rows at a time. */
export async function* selectBlobs(queries: Queries): AsyncGenerator<ListedBlob> {
  for (let last: string | undefined = ""; last !== undefined;) {
    const rows: readonly ListedBlob[] = await queries.query<ListedBlob>(
      `select id, size::float8 as size, kind, encode(sha256, 'hex') as sha256, owner_json as owner,
         (extract(epoch from created_at) * 1000)::float8 as "createdAt",
         (extract(epoch from expires_at) * 1000)::float8 as "expiresAt"
       from acp_skills.blobs where id > $1 order by id limit 500`,
      [last],
    );
    for (const row of rows) yield { ...row, owner: JSON.parse(row.owner) as string };
    last = rows.at(-1)?.id;
  }
}

/** `$1` is a time in milliseconds since 1970, or null for that of the database. */
const isExpired = "expires_at <= coalesce(to_timestamp($1::float8 / 1000), now())";

/** Counts expired blobs; after a sweep, only held ones are left. */
export async function countExpired(queries: Queries, now: number | undefined): Promise<number> {
  const [row] = await queries.query<{ count: number }>(
    `select count(*)::float8 as count from acp_skills.blobs where ${isExpired}`,
    [now ?? null],
  );
  return row?.count ?? 0;
}

interface DeletedBlobs {
  readonly removed: number;
  readonly bytes: number;
  /** Uploads to which nothing refers any more. */
  readonly unused: readonly number[];
}

export async function deleteBlob(database: Database, owner: string, id: string): Promise<DeletedBlobs> {
  return await deleteWhere(database, "id = $1 and owner = $2 for update", [id, toOwnerHash(owner)], true);
}

/** Removes at most 100 expired blobs that are neither held nor locked by others. */
export async function deleteExpired(database: Database, now: number | undefined): Promise<DeletedBlobs> {
  const which = `${isExpired} and not exists (select from acp_skills.blob_holds where blob = blobs.id)
    order by expires_at, id limit 100 for update skip locked`;
  return await deleteWhere(database, which, [now ?? null], false);
}

/**
 * Removes blobs, and contents to which no other blob refers. Removes held blobs only if `evenIfHeld`. Locks blobs and contents first, so
 * that no hold can be added to a blob and no other blob can refer to its content.
 */
async function deleteWhere(
  database: Database,
  which: string,
  values: readonly unknown[],
  evenIfHeld: boolean,
): Promise<DeletedBlobs> {
  const [row] = await database.transaction(async (transaction) => {
    const locked = await transaction.query<{ id: string }>(
      `select id from acp_skills.blobs join acp_skills.blob_contents using (sha256) where ${which}`,
      values,
    );
    return await transaction.query<Omit<DeletedBlobs, "unused"> & { unused: readonly number[] | null }>(
      `with gone as (
       delete from acp_skills.blobs where id = any($1::text[])
         and ($2 or not exists (select from acp_skills.blob_holds where blob = blobs.id))
       returning id, owner, size, sha256
     ), content as (
       delete from acp_skills.blob_contents
       where sha256 in (select sha256 from gone) and not exists (
         select from acp_skills.blobs where sha256 = blob_contents.sha256 and id not in (select id from gone)
       ) returning upload
     ), upload as (
       update acp_skills.blob_uploads set state = 'unused' from content where id = content.upload returning id
     ), less as (
       select owner, sum(size) as bytes, count(*) as blobs from gone group by owner
       union all select '', sum(size), count(*) from gone having count(*) > 0
     ), usage as (
       insert into acp_skills.blob_usage (owner, bytes, blobs)
       select owner, -bytes, -blobs from less order by owner desc
       on conflict (owner) do update
       set bytes = blob_usage.bytes + excluded.bytes, blobs = blob_usage.blobs + excluded.blobs
     )
     select count(*)::float8 as removed, coalesce(sum(size), 0)::float8 as bytes,
       (select array_agg(id::float8) from upload) as unused
     from gone`,
      [locked.map(({ id }) => id), evenIfHeld],
    );
  });
  return { removed: row?.removed ?? 0, bytes: row?.bytes ?? 0, unused: row?.unused ?? [] };
}
