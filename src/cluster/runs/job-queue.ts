import { createHash } from "node:crypto";
import type { PgBoss } from "pg-boss";
import { SkillsError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { doOnce, inBatches } from "../../base/promises.ts";
import { packagesMissing } from "../database/database-error.ts";
import type { Database, Queries } from "../database.ts";

/** The schema of the queue's own tables. */
const schema = "acp_skills_jobs";
/** The maximum number of runs of one owner that the whole cluster executes at a time; further ones wait. */
const defaultPerOwner = 16;
/** A worker that is silent for so long after fetching a job counts as gone, and the job wakes another worker. */
const heartbeatSeconds = 60;
/** The maximum number of label sets that runs can demand. */
const maxQueues = 100;

/** A fetched job, which only names a run. */
export interface Job {
  readonly id: string;
  readonly queue: string;
  readonly runId: string;
}

/** The queue that wakes workers. The row of a run decides which of them executes it. */
export interface JobQueue {
  /** Adds a job in the transaction of `queries`. */
  send(
    queries: Queries,
    run: { readonly runId: string; readonly labels: readonly string[]; readonly ownerKey: Buffer },
  ): Promise<void>;
  /** Removes the job of a run whose worker is gone; until then, the job counts as a running one of its owner. */
  remove(queries: Queries, run: { readonly runId: string; readonly labels: readonly string[] }): Promise<void>;
  /** Wakes workers for jobs that are committed. */
  wake(labels: readonly string[]): void;
  /**
   * Creates the queue for these labels if it is missing, and opens it. A transaction must not wait for that, because it would hold the
   * connection that this needs. Throws SANDBOX_UNAVAILABLE if there are too many queues.
   */
  prepare(labels: readonly string[]): Promise<void>;
  fetch(queue: string, maxJobs: number): Promise<readonly Job[]>;
  /** Ends a job when nothing is left to do for its run. */
  complete(job: Job): Promise<void>;
  /** Reports that the worker of the jobs is alive. */
  touch(jobs: readonly Job[]): Promise<void>;
  close(): Promise<void>;
}

/** Returns the name of the queue for a set of labels. */
export function queueOf(labels: readonly string[]): string {
  if (labels.length === 0) return "runs";
  return `runs-${createHash("sha256").update(JSON.stringify(labels)).digest("hex").slice(0, 32)}`;
}

/** Returns the id of a run's job. */
function jobOf(runId: string): string {
  const id = createHash("sha256").update(runId).digest("hex");
  return [id.slice(0, 8), id.slice(8, 12), id.slice(12, 16), id.slice(16, 20), id.slice(20, 32)].join("-");
}

function adapterOf(queries: Queries): { executeSql(text: string, values?: unknown[]): Promise<{ rows: never[] }> } {
  return { executeSql: async (text, values = []) => ({ rows: [...(await queries.query(text, values))] as never[] }) };
}

/** Creates or changes the tables of the queue. */
export async function migrateQueue(database: Database, log: Log): Promise<void> {
  const { PgBoss } = await import("pg-boss").catch(packagesMissing);
  const boss = new PgBoss({ db: adapterOf(database), schema, supervise: false, schedule: false });
  boss.on("error", (error) => log("error", `The queue: ${error.message}`));
  await boss.start();
  await boss.createQueue(queueOf([]), queueOptions);
  await boss.stop({ graceful: false });
}

/** The options of a queue. A job is retried after any failure, because its run's row decides. A minute after its end it is deleted. */
const queueOptions = {
  policy: "short",
  retryLimit: 1_000_000,
  retryDelay: 1,
  expireInSeconds: 24 * 3_600 - 1,
  heartbeatSeconds,
  deleteAfterSeconds: 60,
};

/** Opens the queue at its first use, with the tables of `migrateQueue`. `supervise`: retries jobs of workers that are gone. */
export function openJobQueue(
  database: Database,
  {
    log,
    supervise,
    perOwner = defaultPerOwner,
  }: { readonly log: Log; readonly supervise: boolean; readonly perOwner?: number },
): JobQueue {
  let opening: Promise<PgBoss> | undefined;
  const opened = doOnce(() => (opening = open()));
  async function open(): Promise<PgBoss> {
    const { PgBoss } = await import("pg-boss").catch(packagesMissing);
    const boss = new PgBoss({ db: adapterOf(database), schema, migrate: false, supervise, schedule: false });
    // In an outage the same error comes every few seconds.
    let reported = "";
    boss.on("error", ({ message }) => {
      if (message !== reported) log("warning", `The queue: ${message}`);
      reported = message;
    });
    return await boss.start();
  }
  async function eachQueue(
    jobs: readonly Job[],
    work: (boss: PgBoss, queue: string, ids: string[]) => Promise<unknown>,
  ): Promise<void> {
    const boss = await opened();
    for (const queue of new Set(jobs.map((job) => job.queue)))
      await work(
        boss,
        queue,
        jobs.filter((job) => job.queue === queue).map(({ id }) => id),
      );
  }
  const known = new Set<string>([queueOf([])]);
  return {
    async prepare(labels) {
      const boss = await opened();
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
        await boss.createQueue(name, queueOptions);
        await database.query("insert into acp_skills.queues (name, labels) values ($1, $2) on conflict do nothing", [
          name,
          [...labels],
        ]);
      }
      known.add(name);
    },
    async send(queries, { runId, labels, ownerKey }) {
      const boss = await opened();
      await boss.send(
        queueOf(labels),
        { runId },
        { db: adapterOf(queries), id: jobOf(runId), singletonKey: runId, group: { id: ownerKey.toString("hex") } },
      );
    },
    async remove(queries, { runId, labels }) {
      await (await opened()).deleteJob(queueOf(labels), jobOf(runId), { db: adapterOf(queries) });
    },
    wake: (labels) => database.notify("acp_skills_queues", queueOf(labels)),
    async fetch(queue, maxJobs) {
      const boss = await opened();
      const options = { batchSize: maxJobs, groupConcurrency: perOwner };
      // Fetching a job twice does no harm.
      const jobs = await database.transaction(
        async (queries) => await boss.fetch<{ runId: string }>(queue, { ...options, db: adapterOf(queries) }),
        { isDurable: false },
      );
      return jobs.map(({ id, data }) => ({ id, queue, runId: data.runId }));
    },
    complete: inBatches(
      async (jobs) => await eachQueue(jobs, async (boss, queue, ids) => await boss.complete(queue, ids)),
    ),
    touch: async (jobs) => await eachQueue(jobs, async (boss, queue, ids) => await boss.touch(queue, ids)),
    async close() {
      const boss = await opening?.catch(() => undefined);
      await boss?.stop({ graceful: false });
    },
  };
}
