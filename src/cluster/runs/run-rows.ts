import type { Queries } from "../database.ts";
import type { StoredRun } from "../../runtime/runs.ts";

/** A run that a worker has claimed. */
export interface ClaimedRun {
  readonly runId: string;
  readonly fence: number;
  readonly spec: string;
  readonly context: string;
  /** The member that waits for the run. */
  readonly member: string | null;
  readonly worker: string;
  readonly labels: readonly string[];
  /** How long the run was in the queue, in milliseconds. */
  readonly queuedMs: number;
}

/** Why a run was not claimed. */
export type NotClaimed = "gone" | "taken" | "cancelled" | "revoked" | "other-labels" | "has-effects";

export interface NewRun {
  readonly runId: string;
  readonly ownerKey: Buffer;
  readonly member: string;
  readonly labels: readonly string[];
  readonly spec: string;
  readonly context: string;
  readonly grantIds: readonly string[];
  readonly blockKeys: readonly Buffer[];
  readonly hasEffects: boolean;
  readonly events: string;
  readonly ttlMs: number;
}

/** Puts a run into the queue. False if its owner, or all owners together, have too many runs in the queue. */
export async function insertRun(
  queries: Queries,
  run: NewRun,
  limits: { readonly ofOwner: number; readonly bytesOfOwner: number; readonly all: number },
): Promise<boolean> {
  const rows = await queries.query(
    `insert into acp_skills.runs
       (run_id, owner_key, placed, member, status, labels, spec, context, grant_ids, block_keys, has_effects, events, expires_at, bytes)
     select $1, $2, true, $3, 'queued', $4, $5, $6, $7, $8, $9, $10, now() + make_interval(secs => $11), $12::integer
     where (select count(*) < $13 and coalesce(sum(bytes), 0) + $12::integer <= $15::bigint
            from (select bytes from acp_skills.runs where owner_key = $2 and status = 'queued' and placed limit $13) o)
       and (select count(*) from (select from acp_skills.runs where status = 'queued' and placed limit $14) a) < $14
     returning 1 as one`,
    [
      run.runId,
      run.ownerKey,
      run.member,
      [...run.labels],
      run.spec,
      run.context,
      [...run.grantIds],
      [...run.blockKeys],
      run.hasEffects,
      run.events,
      run.ttlMs / 1_000,
      run.spec.length + run.context.length,
      limits.ofOwner,
      limits.all,
      limits.bytesOfOwner,
    ],
  );
  return rows.length > 0;
}

interface ClaimOptions {
  readonly worker: string;
  readonly labels: readonly string[];
  readonly leaseMs: number;
  /** Whether to claim a run that may have effects; its claim is recorded in the same transaction. */
  readonly withEffects: boolean;
  /** Whether this worker may have claimed the run already without receiving the answer. */
  readonly resumes: boolean;
}

/** Claims a run of the queue for one worker, or returns why not; see `acp_skills.claim_run`. */
export async function claimRun(
  queries: Queries,
  runId: string,
  { worker, labels, leaseMs, withEffects, resumes }: ClaimOptions,
): Promise<ClaimedRun | NotClaimed> {
  const [row] = await queries.query<ClaimedRun & { readonly outcome: NotClaimed | "claimed" }>(
    `select outcome, run_id as "runId", fence, spec, context, member, worker, labels, queued_ms as "queuedMs"
     from acp_skills.claim_run($1, $2, $3, $4, $5, $6)`,
    [runId, worker, [...labels], leaseMs / 1_000, withEffects, resumes],
  );
  return row === undefined || row.outcome === "claimed" ? (row ?? "gone") : row.outcome;
}

/** The end of a run, as its row has it. */
export interface RunEnding {
  readonly status: Extract<StoredRun["status"], "completed" | "failed" | "refused" | "cancelled" | "interrupted">;
  /** The result as JSON. */
  readonly result?: string | undefined;
  readonly error?: string | undefined;
  readonly events: string;
}

/** Writes the end of a claimed run. False, without any change, if the run was claimed again or given up meanwhile. */
export async function endRun(
  queries: Queries,
  { runId, fence, worker }: Pick<ClaimedRun, "runId" | "fence" | "worker">,
  { status, result, error, events }: RunEnding,
): Promise<boolean> {
  const rows = await queries.query(
    `update acp_skills.runs
     set status = $3, result = $4, error = $5, events = $6, ended_at = now(), lease_until = null,
       bytes = bytes + coalesce(length($4), 0) + length($6)
     where run_id = $1 and fence = $2 and worker = $7 and status = 'running' returning 1 as one`,
    [runId, fence, status, result ?? null, error ?? null, events, worker],
  );
  return rows.length > 0;
}

/** Ends a run that is still in the queue. Returns the member that waits for it. */
export async function endQueued(
  queries: Queries,
  runId: string,
  { status, error }: Pick<RunEnding, "status" | "error">,
): Promise<string | undefined> {
  const [row] = await queries.query<{ member: string | null }>(
    `update acp_skills.runs set status = $2, error = $3, ended_at = now()
     where run_id = $1 and status = 'queued' returning member`,
    [runId, status, error ?? null],
  );
  return row?.member ?? undefined;
}

/** Renews the leases of a worker's runs. Returns the runs that it still has; `cancelled`: the run has to end. */
export async function renewLeases(
  queries: Queries,
  worker: string,
  runs: readonly Pick<ClaimedRun, "runId" | "fence">[],
  leaseMs: number,
): Promise<readonly { readonly runId: string; readonly fence: number; readonly cancelled: boolean }[]> {
  return await queries.query(
    `update acp_skills.runs r set lease_until = now() + make_interval(secs => $4)
     from unnest($2::text[], $3::integer[]) as own(run_id, fence)
     where r.run_id = own.run_id and r.fence = own.fence and r.worker = $1 and r.status = 'running'
     returning r.run_id as "runId", r.fence, r.cancelled_at is not null as cancelled`,
    [worker, runs.map(({ runId }) => runId), runs.map(({ fence }) => fence), leaseMs / 1_000],
  );
}

/** Cancels a run; one in the queue ends at once. Returns the worker that executes it, if any. */
export async function cancelRun(queries: Queries, runId: string): Promise<string | undefined> {
  const [row] = await queries.query<{ worker: string | null; status: string }>(
    `update acp_skills.runs
     set cancelled_at = coalesce(cancelled_at, now()),
       status = case when status = 'queued' then 'cancelled' else status end,
       ended_at = case when status = 'queued' then now() else ended_at end
     where run_id = $1 and status in ('queued', 'running') returning worker, status`,
    [runId],
  );
  return row?.status === "running" ? (row.worker ?? undefined) : undefined;
}

/** The maximum number of claims of a run: one that ends every worker is given up. */
const maxClaims = 3;

/** A run whose worker is gone, or whose job may be lost. */
export interface LostRun {
  readonly runId: string;
  readonly status: "queued" | "interrupted" | "cancelled";
  readonly labels: readonly string[];
  readonly ownerKey: Buffer;
  readonly member: string | null;
}

/** Queues runs again whose lease is over. Gives up those that were cancelled, may have had effects, or were claimed 3 times. */
export async function reapRuns(queries: Queries, limit = 100): Promise<readonly LostRun[]> {
  return await queries.query(
    `with lost as (
       select run_id from acp_skills.runs
       where status = 'running' and placed and lease_until < now()
       order by lease_until limit $1 for update skip locked
     )
     update acp_skills.runs r
     set status = case when r.cancelled_at is not null then 'cancelled'
                       when r.has_effects or r.fence >= $2 then 'interrupted' else 'queued' end,
       ended_at = case when r.cancelled_at is not null or r.has_effects or r.fence >= $2 then now() end,
       worker = null, lease_until = null, woken_at = now()
     from lost where r.run_id = lost.run_id
     returning r.run_id as "runId", r.status, r.labels, r.owner_key as "ownerKey", r.member`,
    [limit, maxClaims],
  );
}

/** Ends the leases of a worker that stops. Its runs are queued again or given up, as if the worker were gone. */
export async function expireLeases(queries: Queries, worker: string): Promise<void> {
  await queries.query(
    `update acp_skills.runs set lease_until = now() - interval '1 second'
     where worker = $1 and status = 'running' and placed`,
    [worker],
  );
}

/** Finds queued runs for which no worker was woken for `afterMs` milliseconds: their job may be lost. */
export async function forgottenRuns(queries: Queries, afterMs: number, limit = 100): Promise<readonly LostRun[]> {
  return await queries.query(
    `with forgotten as (
       select run_id from acp_skills.runs
       where status = 'queued' and placed and woken_at < now() - make_interval(secs => $1)
       order by woken_at limit $2 for update skip locked
     )
     update acp_skills.runs r set woken_at = now()
     from forgotten where r.run_id = forgotten.run_id
     returning r.run_id as "runId", r.status, r.labels, r.owner_key as "ownerKey", r.member`,
    [afterMs / 1_000, limit],
  );
}
