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
  /** Writes what is recorded about a run that starts, in the transaction of its claim. */
  readonly recordClaim: (queries: Queries, claimed: ClaimedRun) => Promise<void>;
  readonly execute: (claimed: ClaimedRun, abort: AbortSignal) => Promise<RunEnding | undefined>;
}

/** A message can be lost with its connection. */
const pollMs = 3_000;
const touchMs = 15_000;

const revoked = toErrorText(
  "PERMISSION_DENIED",
  "What allowed this run was taken back before it started.",
  "The user can approve it again.",
);

/** Takes as many runs as it may execute at a time, one after another. */
export class TakeRuns {
  readonly #options: TakeOptions;
  /** Names of the queues whose labels this worker has. */
  #queues: readonly string[] = [queueOf([])];
  readonly #running = new Map<Job, { readonly abort: AbortController; readonly done: Promise<void> }>();
  readonly #take: () => Promise<void>;
  #isClosed = false;
  readonly #stops: readonly (() => void)[];

  constructor(options: TakeOptions) {
    this.#options = options;
    const { database, clock, queue, log } = options;
    this.#take = latestWork(
      async () => await this.#takeAll(),
      (error) => {
        if (!isOutage(error)) log("error", `No run was taken: ${String(error)}`);
      },
    );
    this.#stops = [
      database.listen(
        "acp_skills_queues",
        (name) => (this.#queues.includes(name) ? void this.#take() : this.#findQueues()),
        () => this.#findQueues(),
      ),
      every(clock, pollMs, () => this.#findQueues()),
      every(clock, touchMs, async () => await queue.touch([...this.#running.keys()])),
    ];
  }

  /** Those that are new, too. */
  #findQueues(): void {
    const { database, labels, log } = this.#options;
    database
      .query<{ name: string }>("select name from acp_skills.queues where labels <@ $1::text[]", [[...labels]])
      .then(
        (rows) => {
          this.#queues = [queueOf([]), ...rows.map(({ name }) => name)];
          void this.#take();
        },
        (error: unknown) => {
          if (!isOutage(error)) log("error", `Queues cannot be read: ${String(error)}`);
        },
      );
  }

  /** Until there is no place left, or all queues are empty: the queues in turn. */
  async #takeAll(): Promise<void> {
    let waiting = this.#queues;
    while (waiting.length > 0) {
      const left: string[] = [];
      for (const name of waiting) {
        const places = this.#options.concurrency - this.#running.size;
        if (this.#isClosed || places <= 0) return;
        const jobs = await this.#options.queue.fetch(name, Math.ceil(places / waiting.length));
        if (jobs.length > 0) left.push(name);
        for (const job of jobs) this.#begin(job);
      }
      waiting = left;
    }
  }

  #begin(job: Job): void {
    const abort = new AbortController();
    const done = this.#work(job, abort)
      .catch((error: unknown) => this.#options.log("error", `The run ${job.runId} was not finished: ${String(error)}`))
      .finally(() => {
        this.#running.delete(job);
        void this.#take();
      });
    this.#running.set(job, { abort, done });
  }

  async #work(job: Job, abort: AbortController): Promise<void> {
    const { leases, execute, clock } = this.#options;
    // As long as the run is this worker's.
    const outages = { clock, signal: abort.signal };
    const claimedAt = clock.now();
    const claimed = await duringOutages((isRetry) => this.#claim(job, isRetry), outages);
    if (claimed === undefined) return;
    const release = leases.hold(claimed, abort, claimedAt);
    try {
      const ending = await execute(claimed, abort.signal);
      if (ending !== undefined) await duringOutages(() => this.#end(job, claimed, ending), outages);
    } finally {
      release();
    }
  }

  /** Undefined where there is nothing to execute; its job is done then. */
  async #claim(job: Job, resumes: boolean): Promise<ClaimedRun | undefined> {
    const { database, queue, recordClaim } = this.#options;
    const claim = async (queries: Queries, withEffects: boolean): ReturnType<typeof claimRun> =>
      await claimRun(queries, job.runId, { ...this.#options, withEffects, resumes });
    // Where there are none, one round trip is enough.
    let claimed = await claim(database, false);
    if (claimed === "has-effects")
      claimed = await database.transaction(async (queries) => {
        const found = await claim(queries, true);
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

  async #end(job: Job, claimed: ClaimedRun, ending: RunEnding): Promise<void> {
    const { database, queue } = this.#options;
    const isOwn = await endRun(database, claimed, ending);
    if (isOwn && claimed.member !== null) post(database, claimed.member, "changed", claimed.runId);
    // Where this is lost, the job wakes a worker once more, for nothing.
    await queue.complete(job);
  }

  /** Takes no further run, and waits for those that it executes, for a limited time; then ends them with this reason. */
  async close(patienceMs: number, reason: Error): Promise<void> {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    const ended = async (): Promise<unknown> => await Promise.all([...this.#running.values()].map(({ done }) => done));
    // What it was taking when this began is executed, too.
    await withinTime(this.#take().then(ended), this.#options.clock, patienceMs);
    for (const { abort } of this.#running.values()) abort.abort(reason);
    await ended();
  }
}
