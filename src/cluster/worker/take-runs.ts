import { type Clock, every, withinTime } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { latestWork } from "../../base/promises.ts";
import { isOutage } from "../database/database-error.ts";
import { duringOutages } from "../database/during-outages.ts";
import type { Database, Queries } from "../database.ts";
import { type Job, type JobQueue, queueOf } from "../runs/job-queue.ts";
import { post } from "../runs/mailbox.ts";
import { type ClaimedRun, type RunEnding, claimRun, endQueued, endRun } from "../runs/run-rows.ts";
import { toErrorText } from "./execute-claimed.ts";
import type { Leases } from "./leases.ts";

interface TakeOptions {
  readonly database: Database;
  readonly queue: JobQueue;
  readonly leases: Leases;
  /** The id of this member. */
  readonly worker: string;
  readonly labels: readonly string[];
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Records the start of a run in the transaction of its claim. */
  readonly recordClaim: (queries: Queries, claimed: ClaimedRun) => Promise<void>;
  readonly execute: (claimed: ClaimedRun, abort: AbortSignal) => Promise<RunEnding | undefined>;
}

/** The interval of polling the queues: a message can be lost with its connection. */
const pollMs = 3_000;
const touchMs = 15_000;

const revoked = toErrorText(
  "PERMISSION_DENIED",
  "What allowed this run was taken back before it started.",
  "The user can approve it again.",
);

/**
 * Takes runs, at most `concurrency` at a time. The returned function stops that: it waits at most `patienceMs` milliseconds for the runs
 * in progress, then ends them with `reason`.
 */
export function takeRuns(options: TakeOptions): (patienceMs: number, reason: Error) => Promise<void> {
  const { database, queue, leases, labels, concurrency, clock, log, execute } = options;
  /** Names of the queues whose labels this worker has. */
  let queues: readonly string[] = [queueOf([])];
  const running = new Map<Job, { readonly abort: AbortController; readonly done: Promise<void> }>();
  let isClosed = false;

  /** Takes runs from the queues in turn, until all slots are taken or all queues are empty. */
  async function takeAll(): Promise<void> {
    let waiting = queues;
    while (waiting.length > 0) {
      const left: string[] = [];
      for (const name of waiting) {
        const slots = concurrency - running.size;
        if (isClosed || slots <= 0) return;
        const jobs = await queue.fetch(name, Math.ceil(slots / waiting.length));
        if (jobs.length > 0) left.push(name);
        for (const job of jobs) begin(job);
      }
      waiting = left;
    }
  }
  const take = latestWork(takeAll, (error) => {
    if (!isOutage(error)) log("error", `No run was taken: ${String(error)}`);
  });

  /** Reads which queues this worker serves, including new ones, and takes runs from them. */
  function findQueues(): void {
    database
      .query<{ name: string }>("select name from acp_skills.queues where labels <@ $1::text[]", [[...labels]])
      .then(
        (rows) => {
          queues = [queueOf([]), ...rows.map(({ name }) => name)];
          void take();
        },
        (error: unknown) => {
          if (!isOutage(error)) log("error", `Queues cannot be read: ${String(error)}`);
        },
      );
  }

  function begin(job: Job): void {
    const abort = new AbortController();
    const done = work(job, abort)
      .catch((error: unknown) => log("error", `The run ${job.runId} was not finished: ${String(error)}`))
      .finally(() => {
        running.delete(job);
        void take();
      });
    running.set(job, { abort, done });
  }

  async function work(job: Job, abort: AbortController): Promise<void> {
    // Outages are waited out for as long as this worker has the run.
    const outages = { clock, signal: abort.signal };
    const claimedAt = clock.now();
    const claimed = await duringOutages((isRetry) => claim(options, job, isRetry), outages);
    if (claimed === undefined) return;
    const release = leases.hold(claimed, abort, claimedAt);
    try {
      const ending = await execute(claimed, abort.signal);
      if (ending !== undefined) await duringOutages(() => end(options, job, claimed, ending), outages);
    } finally {
      release();
    }
  }

  const stops = [
    database.listen(
      "acp_skills_queues",
      (name) => (queues.includes(name) ? void take() : findQueues()),
      () => findQueues(),
    ),
    every(clock, pollMs, findQueues),
    every(clock, touchMs, async () => await queue.touch([...running.keys()])),
  ];
  return async (patienceMs, reason) => {
    isClosed = true;
    for (const stop of stops) stop();
    const ended = async (): Promise<unknown> => await Promise.all([...running.values()].map(({ done }) => done));
    // Runs that were being taken are executed, too.
    await withinTime(take().then(ended), clock, patienceMs);
    for (const { abort } of running.values()) abort.abort(reason);
    await ended();
  };
}

/** Claims the run of a job. Undefined, after completing the job, if there is nothing to execute. */
async function claim(options: TakeOptions, job: Job, resumes: boolean): Promise<ClaimedRun | undefined> {
  const { database, queue, recordClaim } = options;
  // Without effects, one round trip is enough.
  let claimed = await claimRun(database, job.runId, { ...options, withEffects: false, resumes });
  if (claimed === "has-effects")
    claimed = await database.transaction(async (queries) => {
      const found = await claimRun(queries, job.runId, { ...options, withEffects: true, resumes });
      if (typeof found === "object") await recordClaim(queries, found);
      return found;
    });
  if (typeof claimed === "object") return claimed;
  if (claimed === "revoked" || claimed === "cancelled") {
    const ending =
      claimed === "revoked" ? ({ status: "refused", error: revoked } as const) : ({ status: "cancelled" } as const);
    const member = await endQueued(database, job.runId, ending);
    if (member !== undefined) post(database, member, "changed", job.runId);
  }
  await queue.complete(job);
  return undefined;
}

async function end({ database, queue }: TakeOptions, job: Job, claimed: ClaimedRun, ending: RunEnding): Promise<void> {
  const isOwn = await endRun(database, claimed, ending);
  if (isOwn && claimed.member !== null) post(database, claimed.member, "changed", claimed.runId);
  // If this is lost, the job wakes a worker once more, for nothing.
  await queue.complete(job);
}
