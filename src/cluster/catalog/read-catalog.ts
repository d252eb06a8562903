import { isSlug } from "../../skills/skill.ts";
import type { Queries } from "../database.ts";

/** A version that was published or withdrawn. */
export interface CatalogEntry {
  readonly revision: number;
  readonly slug: string;
  readonly version: string;
  /** Undefined if the version was withdrawn. */
  readonly digest: string | undefined;
  /** Milliseconds by the clock of this member, which has no date. */
  readonly publishedAt: number;
}

export interface CatalogState {
  /** The id of the database: a change means that it is another database. */
  readonly id: string;
  readonly revision: number;
}

/** The maximum number of rows per read. */
const batch = 200;
const maxVersionLength = 256;

export async function readCatalogState(queries: Queries): Promise<CatalogState> {
  const [state] = await queries.query<CatalogState>(
    "select id::text as id, revision::float8 as revision from acp_skills.catalog_revision",
  );
  return state ?? { id: "", revision: 0 };
}

/** Reads the next changes after a revision, in order; at most 200. `now`: by the clock of this member. */
export async function readChanges(queries: Queries, after: number, now: number): Promise<readonly CatalogEntry[]> {
  const rows = await queries.query<Omit<CatalogEntry, "digest"> & { readonly digest: string | null }>(
    `select revision::float8 as revision, slug, version,
            $3::float8 - (extract(epoch from now() - published_at) * 1000)::float8 as "publishedAt",
            case when withdrawn_at is null then 'sha256:' || encode(digest, 'hex') end as digest
     from acp_skills.catalog where revision > $1 order by revision limit $2`,
    [after, batch, now],
  );
  return rows.map(({ digest, ...row }) => ({ ...row, digest: digest ?? undefined }));
}

/** Whether an entry has a valid form: its slug becomes a segment of paths. */
export function isCatalogEntry({ revision, slug, version, digest, publishedAt }: CatalogEntry): boolean {
  return (
    Number.isSafeInteger(revision) &&
    isSlug(slug) &&
    version.length <= maxVersionLength &&
    (digest === undefined || /^sha256:[0-9a-f]{64}$/.test(digest)) &&
    Number.isFinite(publishedAt)
  );
}
