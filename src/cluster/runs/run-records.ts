import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { LimitedMap } from "../../base/limited-map.ts";
import type { Log } from "../../base/log.ts";
import { type RunStore, type StoredRun, parseStoredRun, runRetention } from "../../runtime/runs.ts";
import type { Database } from "../database.ts";

type Retention = typeof runRetention;

interface RecordOptions extends Partial<Retention> {
  readonly database: Database;
  /** The id of this member, whose runs count as interrupted when it is gone. */
  readonly member: string;
  readonly log: Log;
  /** The time in milliseconds since 1970, for tests. Default: the clock of the database. */
  readonly now?: () => number;
}

interface RunRow {
  readonly spec: string;
  readonly createdAt: number;
  readonly status: StoredRun["status"];
  readonly events: string;
  readonly result: string | null;
  readonly error: string | null;
}

/** The columns of a run. A run that its member executes itself counts as interrupted when the member is gone. */
const columns = `spec, events, result, error, (extract(epoch from created_at) * 1000)::float8 as "createdAt",
  case when placed or status not in ('queued', 'running') or exists (
    select from acp_skills.members m where m.id = r.member and m.lease_until > now()
  ) then status else 'interrupted' end as status`;
const time = "coalesce(to_timestamp($1::float8 / 1000), now())";
const page = 200;

/** The records of the runs of all members. Workers write those of submitted runs. */
export class ClusterRunRecords implements RunStore {
  readonly #options: RecordOptions & Retention;
  readonly #pending: Map<string, StoredRun>;
  readonly #stored: Map<string, true>;
  readonly #submitted: Map<string, true>;
  /** The runs and bytes that were stored since the owner's runs were last pruned, by the hexadecimal key of the owner. */
  readonly #unpruned = new LimitedMap<string, { runs: number; bytes: number }>(1_000);
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  #isReported = false;

  constructor(options: RecordOptions) {
    this.#options = { ...runRetention, ...options };
    const { maxRuns } = this.#options;
    this.#pending = new LimitedMap(maxRuns);
    this.#stored = new LimitedMap(maxRuns);
    this.#submitted = new LimitedMap(maxRuns);
  }

  /** Leaves the record of a run to workers from now on. */
  leaveToWorkers(runId: string): void {
    this.#pending.delete(runId);
    this.#submitted.set(runId, true);
  }

  keep(run: StoredRun): void {
    const { runId } = run.spec;
    if (this.#submitted.has(runId)) return;
    this.#pending.set(runId, { ...run, events: [...run.events] });
    this.#next ??= this.#last = this.#last.then(async () => {
      await setImmediate();
      this.#next = undefined;
      await this.#writePending();
    });
  }

  async #writePending(): Promise<void> {
    let failure: string | undefined;
    for (const [runId, run] of [...this.#pending]) {
      try {
        await this.#write(run);
        if (this.#pending.get(runId) === run) this.#pending.delete(runId);
      } catch (error) {
        failure = error instanceof Error ? error.message : String(error);
        break;
      }
    }
    if (failure !== undefined && !this.#isReported)
      this.#options.log("warning", `Runs cannot be recorded in the database of the cluster: ${failure}`);
    this.#isReported = failure !== undefined;
  }

  async #write({ spec, createdAt, status, events, result, error }: StoredRun): Promise<void> {
    const { database, member, ttlMs, maxRuns, maxBytes } = this.#options;
    const texts = [spec, events, result, error].map((value) => (value === undefined ? null : JSON.stringify(value)));
    const bytes = texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
    if (bytes > maxBytes) return;
    const ownerKey = createHash("sha256").update(spec.owner).digest();
    await database.query(
      `insert into acp_skills.runs
         (run_id, owner_key, placed, member, status, spec, events, result, error, created_at, expires_at, bytes)
       values ($1, $2, false, $3, $4, $5, $6, $7, $8, to_timestamp($9::float8 / 1000),
         to_timestamp($9::float8 / 1000) + make_interval(secs => $10), $11)
       on conflict (run_id) do update set status = excluded.status, events = excluded.events, result = excluded.result,
         error = excluded.error, bytes = excluded.bytes
       where not acp_skills.runs.placed`,
      [spec.runId, ownerKey, member, status, ...texts, createdAt, ttlMs / 1_000, bytes],
    );
    this.#stored.set(spec.runId, true);
    if (status === "queued" || status === "running") return;
    // Each member exceeds the limits of an owner by at most a tenth.
    const key = ownerKey.toString("hex");
    const unpruned = this.#unpruned.get(key) ?? { runs: 0, bytes: 0 };
    unpruned.runs += 1;
    unpruned.bytes += bytes;
    this.#unpruned.set(key, unpruned);
    if (unpruned.runs * 10 < maxRuns && unpruned.bytes * 10 < maxBytes) return;
    this.#unpruned.delete(key);
    await pruneRuns(database, { maxRuns, maxBytes }, maxRuns, ownerKey);
  }

  async stored(runId: string): Promise<boolean> {
    await this.#last;
    return this.#stored.has(runId) || this.#submitted.has(runId);
  }

  async read(runId: string): Promise<StoredRun | undefined> {
    const pending = this.#pending.get(runId);
    if (pending !== undefined) return pending;
    const { database } = this.#options;
    const [row] = await database.query<RunRow>(
      `select ${columns} from acp_skills.runs r where run_id = $2 and expires_at > ${time}`,
      [this.#now(), runId],
    );
    return row && this.#parse(row);
  }

  async *list(): AsyncGenerator<StoredRun> {
    await this.#last;
    const { database } = this.#options;
    let [before, beforeId]: [string | null, string] = [null, ""];
    for (;;) {
      const rows: readonly (RunRow & { readonly runId: string; readonly createdAt: string })[] = await database.query(
        `select run_id as "runId", created_at::text as "createdAt", ${columns} from acp_skills.runs r
         where expires_at > ${time}
           and ($2::timestamptz is null or (created_at, run_id) < ($2::timestamptz, $3))
         order by created_at desc, run_id desc limit ${page}`,
        [this.#now(), before, beforeId],
      );
      for (const row of rows) {
        const run = this.#parse(row);
        if (run !== undefined) yield run;
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < page) return;
      [before, beforeId] = [last.createdAt, last.runId];
    }
  }

  #now(): number | null {
    return this.#options.now?.() ?? null;
  }

  #parse({ spec, createdAt, status, events, result, error }: RunRow): StoredRun | undefined {
    try {
      return parseStoredRun({
        spec: JSON.parse(spec) as unknown,
        createdAt,
        status,
        events: JSON.parse(events) as unknown,
        ...(result !== null && { result: JSON.parse(result) as unknown }),
        ...(error !== null && { error: withoutHint(error) }),
      });
    } catch (failure) {
      this.#options.log(
        "warning",
        `A run record of the cluster was skipped: it is damaged (${String(failure).slice(0, 200)}).`,
      );
      return undefined;
    }
  }

  async close(): Promise<void> {
    await this.#last;
  }
}

function withoutHint(error: string): unknown {
  const { code, message } = JSON.parse(error) as { readonly code: string; readonly message: string };
  return { code, message };
}

/** Removes the oldest ended runs beyond the limits of their owner, for all owners or one. Returns how many were removed. */
async function pruneRuns(
  database: Pick<Database, "query">,
  { maxRuns, maxBytes }: Pick<Retention, "maxRuns" | "maxBytes">,
  limit: number,
  ownerKey: Buffer | null = null,
): Promise<number> {
  const removed = await database.query(
    `delete from acp_skills.runs where run_id in (
       select run_id from (
         select run_id, status, row_number() over w as place, sum(bytes) over w as total from acp_skills.runs
         where $4::bytea is null or owner_key = $4
         window w as (partition by owner_key order by created_at desc, run_id desc rows unbounded preceding)
       ) counted
       where (place > $1 or total > $2) and status not in ('queued', 'running') limit $3
     ) returning 1 as one`,
    [maxRuns, maxBytes, limit, ownerKey],
  );
  return removed.length;
}

/** Removes expired records, those beyond the limits of owners, events of ended runs, and members that are gone. Returns how many rows. */
export async function sweepRuns(
  database: Pick<Database, "query">,
  limits: Pick<Retention, "maxRuns" | "maxBytes"> = runRetention,
  limit = 1_000,
): Promise<number> {
  const removed = await database.query(
    `delete from acp_skills.runs where run_id in (
       select run_id from acp_skills.runs
       where expires_at < now() and status not in ('queued', 'running') limit $1 for update skip locked
     ) returning 1 as one`,
    [limit],
  );
  const events = await database.query(
    `delete from acp_skills.run_events where run_id in (
       select run_id from acp_skills.runs
       where ended_at < now() - interval '10 minutes' and created_at > now() - interval '2 days' and placed
         and exists (select from acp_skills.run_events e where e.run_id = runs.run_id) limit $1
     ) returning 1 as one`,
    [limit],
  );
  const exceeding = await pruneRuns(database, limits, limit);
  const gone = await database.query(
    "delete from acp_skills.members where lease_until < now() - interval '1 hour' returning 1 as one",
  );
  return removed.length + events.length + exceeding + gone.length;
}
