import { version } from "../../base/version.ts";
import type { Queries } from "../database.ts";
import type { MemberKind } from "../members.ts";

/** Seconds, by the clock of the database. */
type Seconds = number;

interface ListedMember {
  readonly id: string;
  readonly kind: MemberKind;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly labels: readonly string[];
  /** The maximum number of runs at a time. */
  readonly concurrency: number;
  readonly age_seconds: Seconds;
  /** Seconds until the lease of the member ends; negative after its end. */
  readonly lease_seconds: Seconds;
}

/** Runs that wait for the same labels. */
interface WaitingRuns {
  readonly labels: readonly string[];
  readonly waiting: number;
  readonly oldest_seconds: Seconds;
}

/** A run that a worker executes. */
interface RunLease {
  readonly run_id: string;
  readonly worker: string | null;
  readonly fence: number;
  /** Seconds since the run was started. */
  readonly age_seconds: Seconds;
  readonly lease_seconds: Seconds;
}

/** The state of a cluster, read from its database. */
export interface ClusterStatus {
  /** The version of this package. */
  readonly version: string;
  readonly schema: { readonly number: number; readonly oldest: number };
  readonly members: readonly ListedMember[];
  readonly runs: { readonly queued: number; readonly running: number };
  readonly queue: readonly WaitingRuns[];
  readonly leases: readonly RunLease[];
  readonly tables: readonly { readonly name: string; readonly bytes: number; readonly rows: number }[];
}

/** The maximum number of rows that are read for each list. The counts in `runs` have no such limit. */
const maxRows = 1_000;

/** Reads the state of a cluster. Rejects with the errors of the database. */
export async function readStatus(queries: Queries): Promise<ClusterStatus> {
  const [schema = { number: 0, oldest: 0 }] = await queries.query<ClusterStatus["schema"]>(
    "select max(number) as number, max(oldest) as oldest from acp_skills.migrations",
  );
  const members = await queries.query<ListedMember>(
    `select id, kind, host, pid, version, labels, concurrency,
       extract(epoch from now() - started_at)::float8 as age_seconds,
       extract(epoch from lease_until - now())::float8 as lease_seconds
     from acp_skills.members order by kind, started_at, id limit $1`,
    [maxRows],
  );
  const [runs = { queued: 0, running: 0 }] = await queries.query<ClusterStatus["runs"]>(
    `select count(*) filter (where status = 'queued')::float8 as queued, count(*) filter (where status = 'running')::float8 as running
     from acp_skills.runs where placed and status in ('queued', 'running')`,
  );
  const queue = await queries.query<WaitingRuns>(
    `select labels, count(*)::float8 as waiting, extract(epoch from now() - min(created_at))::float8 as oldest_seconds
     from acp_skills.runs where placed and status = 'queued' group by labels order by waiting desc, labels limit $1`,
    [maxRows],
  );
  const leases = await queries.query<RunLease>(
    `select run_id, worker, fence, extract(epoch from now() - coalesce(started_at, created_at))::float8 as age_seconds,
       coalesce(extract(epoch from lease_until - now()), 0)::float8 as lease_seconds
     from acp_skills.runs where placed and status = 'running' order by lease_until, run_id limit $1`,
    [maxRows],
  );
  const tables = await queries.query<ClusterStatus["tables"][number]>(
    `select n.nspname || '.' || c.relname as name, pg_total_relation_size(c.oid)::float8 as bytes, greatest(c.reltuples, 0)::float8 as rows
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname in ('acp_skills', 'acp_skills_jobs') and c.relkind = 'r' order by bytes desc, name limit $1`,
    [maxRows],
  );
  return { version, schema, members, runs, queue, leases, tables };
}

/** The number of runs with one status, by the worker that executed them last. */
interface ClaimCount {
  readonly worker: string | null;
  readonly status: string;
  readonly count: number;
  /** How many of the runs an earlier worker had begun. */
  readonly repeated: number;
}

/** Counts runs by worker and status. Rejects with the errors of the database. */
export async function countClaims(queries: Queries): Promise<readonly ClaimCount[]> {
  return await queries.query<ClaimCount>(
    `select worker, status, count(*)::float8 as count, count(*) filter (where fence > 1)::float8 as repeated
     from acp_skills.runs where placed group by worker, status order by worker, status limit $1`,
    [maxRows],
  );
}
