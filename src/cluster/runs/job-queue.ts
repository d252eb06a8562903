import { createHash } from "node:crypto";
import type { PgBoss } from "pg-boss";
import { SkillsError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Database, Queries } from "../database.ts";

/** The schema of the queue's own tables. */
const schema = "acp_skills_jobs";
/** Runs of one owner that are executed at a time, in all the cluster, while others wait. */
const defaultPerOwner = 16;
/** A worker that fetched a job and says nothing for so long is gone: the job wakes another one. */
const heartbeatSeconds = 60;
/** Sets of labels that runs can demand. */
const maxQueues = 100;

/** A job that was fetched: it only names a run. */
export interface Job {
  readonly id: string;
  readonly queue: string;
  readonly runId: string;
}

/** The queue that wakes workers; which of them executes a run is decided by the run's row. */
export interface JobQueue {
  /** Adds a job in the transaction of `queries`, and wakes workers by a message of `acp_skills_queues`. */
  send(
    queries: Queries,
    run: { readonly runId: string; readonly labels: readonly string[]; readonly ownerKey: Buffer },
  ): Promise<void>;
  /** Makes sure that there is a queue for these labels. Throws SANDBOX_UNAVAILABLE where there are too many. */
  prepare(labels: readonly string[]): Promise<void>;
  fetch(queue: string): Promise<Job | undefined>;
  /** The job is done, in the transaction of `queries`. */
  complete(queries: Queries, job: Job): Promise<void>;
  /** Says that its worker is there. */
  touch(jobs: readonly Job[]): Promise<void>;
  close(): Promise<void>;
}

/** The queue of a set of labels. */
export function queueOf(labels: readonly string[]): string {
  if (labels.length === 0) return "runs";
  return `runs-${createHash("sha256").update(JSON.stringify(labels)).digest("hex").slice(0, 32)}`;
}

async function loadBoss(): Promise<typeof PgBoss> {
  try {
    return (await import("pg-boss")).PgBoss;
  } catch (error) {
    throw new SkillsError("INVALID_OPTIONS", "--cluster needs the packages pg and pg-boss: npm install pg pg-boss", {
      cause: error,
      facts: { option: "cluster" },
    });
  }
}

function adapterOf(queries: Queries): { executeSql(text: string, values?: unknown[]): Promise<{ rows: never[] }> } {
  return { executeSql: async (text, values = []) => ({ rows: [...(await queries.query(text, values))] as never[] }) };
}

/** Creates or changes the tables of the queue. */
export async function migrateQueue(database: Database, log: Log): Promise<void> {
  const Boss = await loadBoss();
  const boss = new Boss({ db: adapterOf(database), schema, supervise: false, schedule: false });
  boss.on("error", (error) => log("error", `The queue: ${error.message}`));
  await boss.start();
  await boss.createQueue(queueOf([]), queueOptions);
  await boss.stop({ graceful: false });
}

/** The row of a run says what becomes of it, so that a job is tried again whatever happened, and is forgotten when it is done. */
const queueOptions = {
  policy: "short",
  retryLimit: 1_000_000,
  retryDelay: 1,
  expireInSeconds: 24 * 3_600 - 1,
  heartbeatSeconds,
  deleteAfterSeconds: 60,
};

/** Opens the queue, whose tables `migrateQueue` has made, at its first use. `supervise`: cares for jobs of workers that are gone. */
export function openJobQueue(
  database: Database,
  {
    log,
    supervise,
    perOwner = defaultPerOwner,
  }: { readonly log: Log; readonly supervise: boolean; readonly perOwner?: number },
): JobQueue {
  let opening: Promise<PgBoss> | undefined;
  async function open(): Promise<PgBoss> {
    const Boss = await loadBoss();
    const boss = new Boss({ db: adapterOf(database), schema, migrate: false, supervise, schedule: false });
    // In an outage it has the same error every few seconds.
    let reported = "";
    boss.on("error", ({ message }) => {
      if (message !== reported) log("warning", `The queue: ${message}`);
      reported = message;
    });
    return await boss.start();
  }
  async function opened(): Promise<PgBoss> {
    const tried = (opening ??= open());
    return await tried.catch((error: unknown) => {
      if (opening === tried) opening = undefined;
      throw error;
    });
  }
  const known = new Set<string>([queueOf([])]);
  return {
    async prepare(labels) {
      const name = queueOf(labels);
      if (known.has(name)) return;
      const [row] = await database.query<{ isThere: boolean; count: number }>(
        `select exists (select from acp_skills.queues where name = $1) as "isThere", (select count(*) from acp_skills.queues)::integer as count`,
        [name],
      );
      if (row?.isThere !== true) {
        if ((row?.count ?? 0) >= maxQueues)
          throw new SkillsError(
            "SANDBOX_UNAVAILABLE",
            `Runs of the cluster demand ${maxQueues} sets of labels already.`,
          );
        await (await opened()).createQueue(name, queueOptions);
        await database.query("insert into acp_skills.queues (name, labels) values ($1, $2) on conflict do nothing", [
          name,
          [...labels],
        ]);
      }
      known.add(name);
    },
    async send(queries, { runId, labels, ownerKey }) {
      const name = queueOf(labels);
      const boss = await opened();
      await boss.send(
        name,
        { runId },
        { db: adapterOf(queries), singletonKey: runId, group: { id: ownerKey.toString("hex") } },
      );
      await queries.query("select pg_notify('acp_skills_queues', $1)", [name]);
    },
    async fetch(queue) {
      const boss = await opened();
      const [job] = await boss.fetch<{ runId: string }>(queue, { batchSize: 1, groupConcurrency: perOwner });
      return job && { id: job.id, queue, runId: job.data.runId };
    },
    async complete(queries, { queue, id }) {
      await (await opened()).complete(queue, id, undefined, { db: adapterOf(queries) });
    },
    async touch(jobs) {
      if (jobs.length === 0) return;
      const boss = await opened();
      for (const queue of new Set(jobs.map((job) => job.queue)))
        await boss.touch(
          queue,
          jobs.filter((job) => job.queue === queue).map(({ id }) => id),
        );
    },
    async close() {
      const boss = await opening?.catch(() => undefined);
      await boss?.stop({ graceful: false });
    },
  };
}
