import { inParallel } from "../../base/promises.ts";
import type { BlobContext } from "./blob-holder.ts";
import { objectBytes, toObjectName } from "./object-store.ts";

const uploadsAtOnce = 10;
const requestsAtOnce = 8;
const orphanAgeMs = 60 * 60 * 1000;

/** Removes the bytes of uploads to which nothing refers and that nobody reads. Deletes rows first: bytes without a row are orphans. */
export async function removeUploads({ database, objects }: BlobContext, ids: readonly number[]): Promise<void> {
  const gone = await database.transaction(async (transaction) => {
    const locked = await transaction.query<{ id: number }>(
      `select id::float8 as id from acp_skills.blob_uploads
       where id = any($1::bigint[]) and state <> 'used' and ($2 or object is null) order by id for update skip locked`,
      [[...ids], objects !== undefined],
    );
    // A separate statement sees the holds that were added until the rows were locked.
    return await transaction.query<{ object: string | null; size: number }>(
      `delete from acp_skills.blob_uploads
       where id = any($1::bigint[]) and not exists (select from acp_skills.blob_holds where upload = blob_uploads.id)
       returning object, size::float8 as size`,
      [locked.map(({ id }) => id)],
    );
  });
  const names = gone.flatMap(({ object, size }) =>
    object === null
      ? []
      : Array.from({ length: Math.ceil(size / objectBytes) }, (_, number) => toObjectName(object, number)),
  );
  // Objects whose removal fails are found as orphans later.
  if (objects !== undefined)
    await inParallel(names, requestsAtOnce, (name) => objects.remove(name).catch(() => undefined));
}

/** Removes the leases, uploads and objects that crashed processes left, in small steps. */
export async function removeLeftovers(context: BlobContext): Promise<void> {
  const { database } = context;
  await database.query("delete from acp_skills.blob_holders where lease_until < now()");
  for (let last: number | undefined = 0; last !== undefined;) {
    const rows: readonly { id: number }[] = await database.query<{ id: number }>(
      `select id::float8 as id from acp_skills.blob_uploads
       where state <> 'used' and id > $1 and (state = 'unused' or not exists (
         select from acp_skills.blob_holders where id = holder and lease_until >= now()
       )) order by id limit $2`,
      [last, uploadsAtOnce],
    );
    const ids = rows.map(({ id }) => id);
    await removeUploads(context, ids);
    last = ids[uploadsAtOnce - 1];
  }
  await database.query("delete from acp_skills.blob_usage where blobs = 0 and owner <> ''");
  await removeOrphans(context);
}

/** Removes objects of uploads whose row is gone. All processes together do it at most every 30 minutes. */
async function removeOrphans({ database, objects }: BlobContext): Promise<void> {
  if (objects === undefined) return;
  const [due] = await database.query(
    `insert into acp_skills.blob_searches (place, searched_at) values ($1, now()) on conflict (place) do update
     set searched_at = now() where blob_searches.searched_at < now() - interval '30 minutes' returning place`,
    [objects.label],
  );
  if (due === undefined) return;
  for await (const names of objects.listOlder(orphanAgeMs)) {
    const known = await database.query<{ object: string }>(
      "select object from acp_skills.blob_uploads where object = any($1::text[])",
      [[...new Set(names.map(toObject))]],
    );
    const objectsOfRows = new Set(known.map(({ object }) => object));
    const orphans = names.filter((name) => !objectsOfRows.has(toObject(name)));
    await inParallel(orphans, requestsAtOnce, (name) => objects.remove(name));
  }
}

function toObject(name: string): string {
  return name.slice(0, name.lastIndexOf("/"));
}
