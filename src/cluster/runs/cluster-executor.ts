import { createHash } from "node:crypto";
import { SkillsError, type SkillsErrorCode } from "../../base/errors.ts";
import { type Clock, every } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { latestWork } from "../../base/promises.ts";
import {
  type EndedRun,
  type RunExecutor,
  type RunSpec,
  type StoredRun,
  type SubmittedRun,
  runRetention,
} from "../../runtime/runs.ts";
import type { RunStep } from "../../wire/run-event.ts";
import { blockKey } from "../approvals.ts";
import { isOutage } from "../database/database-error.ts";
import { duringOutages } from "../database/during-outages.ts";
import type { Database, Queries } from "../database.ts";
import type { SkillPacks } from "../skills.ts";
import type { JobQueue } from "./job-queue.ts";
import { openMailbox, post } from "./mailbox.ts";
import { demandKey, hasEffects, labelsIn, toSubmittedContext } from "./submitted-context.ts";
import { cancelRun, insertRun } from "./run-rows.ts";

/** The maximum number of waiting runs, of one owner and of all owners. */
const maxWaiting = { ofOwner: 200, bytesOfOwner: 64 * 1024 * 1024, all: 20_000 };
/** The interval of polling: a message about a changed run can be lost with its connection. */
const askEveryMs = 5_000;
/** How long submitting a run is repeated in an outage. */
const submitForMs = 30_000;

interface ClusterExecutorOptions {
  readonly database: Database;
  readonly queue: JobQueue;
  readonly packs: SkillPacks;
  /** The id of this member. */
  readonly member: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Called before a run is put into the queue: from then on workers record it. */
  readonly onSubmitted: (runId: string) => void;
}

/** A run that this member waits for. */
interface Awaited {
  /** The fence and number of the last event that was passed on. */
  fence: number;
  number: number;
  /** Reads the state of the run. */
  readonly ask: () => Promise<void>;
  readonly run: SubmittedRun;
  readonly end: (ended: EndedRun) => void;
  readonly fail: (error: unknown) => void;
}

/** The state of a run, and its events since the last read. */
interface RunState {
  readonly status: StoredRun["status"];
  readonly result: string | null;
  readonly error: string | null;
  readonly news: string | null;
}

/** Puts runs into the queue of the cluster, and waits for the reports of workers. Runs that need this machine stay on it. */
export class ClusterExecutor implements RunExecutor {
  readonly name = "cluster";
  readonly #options: ClusterExecutorOptions;
  readonly #awaited = new Map<string, Awaited>();
  readonly #stops: (() => void)[];

  constructor(options: ClusterExecutorOptions) {
    this.#options = options;
    const { database, member, clock } = options;
    const askAll = (): void => {
      for (const { ask } of this.#awaited.values()) void ask();
    };
    this.#stops = [
      openMailbox(database, member, "changed", (runId) => void this.#awaited.get(runId)?.ask(), askAll),
      every(clock, askEveryMs, askAll),
    ];
  }

  /** Refuses runs that need the directory of a session, or the rights of this machine's user: they stay on this machine. */
  takes({ program, needs }: Pick<RunSpec, "program" | "needs">): boolean {
    return program.type !== "remote" && needs.project === "none" && needs.isolation === undefined;
  }

  async execute(run: SubmittedRun): Promise<EndedRun> {
    const { spec, signal } = run;
    const { onSubmitted } = this.#options;
    signal.throwIfAborted();
    const labels = this.#labelsOf(run);
    await this.#prepare(run, labels);
    const ended = new Promise<EndedRun>((end, fail) => {
      const ask = latestWork(
        async () => await this.#read(spec.runId, awaited),
        (error) => {
          // The next poll after the outage asks again.
          if (!isOutage(error)) awaited.fail(error);
        },
      );
      const awaited: Awaited = { fence: 0, number: 0, ask, run, end, fail };
      this.#awaited.set(spec.runId, awaited);
    });
    // It is awaited only below; until then, a rejection must not count as unhandled.
    ended.catch(() => undefined);
    const cancel = (): void => this.#cancel(spec.runId);
    try {
      onSubmitted(spec.runId);
      run.notify({ type: "queued", behind: 0, ...(spec.skill && { skill: spec.skill.name }) });
      await this.#submit(run, labels);
      signal.addEventListener("abort", cancel, { once: true });
      if (signal.aborted) cancel();
      return await ended;
    } finally {
      signal.removeEventListener("abort", cancel);
      this.#awaited.delete(spec.runId);
    }
  }

  #labelsOf({ spec, caller }: SubmittedRun): readonly string[] {
    if (spec.skill === undefined) return [];
    const { skill } = caller.skills.find(spec.skill.slug, spec.skill.version);
    const written = skill.metadata[demandKey] ?? "";
    const labels = labelsIn(written);
    if (labels !== undefined) return labels;
    const hint = "Report this to its author: labels are words such as gpu or arch=arm64, eight at most.";
    const message = `The skill ${skill.name} demands workers by labels that none can have: ${written.slice(0, 200)}`;
    throw new SkillsError("NOT_EXECUTABLE", message, { facts: { hint } });
  }

  /** Stores the skills and creates the queue of a run: work that takes long and can be repeated. */
  async #prepare({ facts, signal }: SubmittedRun, labels: readonly string[]): Promise<void> {
    const { packs, queue } = this.#options;
    try {
      if (labels.length > 0) await this.#expectLabels(labels);
      for (const { skill, digest } of facts.skills) await packs.store(skill, digest, signal);
      await queue.prepare(labels);
    } catch (error) {
      throw toRunError(error);
    }
  }

  async #expectLabels(labels: readonly string[]): Promise<void> {
    const [row] = await this.#options.database.query<{ found: boolean }>(
      "select exists (select from acp_skills.worker_labels where labels @> $1::text[]) as found",
      [[...labels]],
    );
    if (row?.found === true) return;
    const message = `No worker of the cluster has the labels ${labels.join(", ")}.`;
    throw new SkillsError("SANDBOX_UNAVAILABLE", message, {
      facts: { hint: "acp-skills cluster status shows the workers and their labels." },
    });
  }

  async #submit(run: SubmittedRun, labels: readonly string[]): Promise<void> {
    const { database, queue, member } = this.#options;
    const { spec, facts } = run;
    const ownerKey = createHash("sha256").update(spec.owner).digest();
    const row = {
      runId: spec.runId,
      ownerKey,
      member,
      labels,
      spec: JSON.stringify(spec),
      context: JSON.stringify(toSubmittedContext(run)),
      grantIds: facts.grants,
      blockKeys: facts.blockers.map(({ scope, skill, from }) => blockKey(scope, skill, from)),
      hasEffects: hasEffects(run),
      events: JSON.stringify([{ atMs: 0, type: "queued", behind: 0, ...(spec.skill && { skill: spec.skill.name }) }]),
      ttlMs: runRetention.ttlMs,
    };
    const once = async (isRetry: boolean): Promise<void> =>
      await database.transaction(async (queries) => {
        // An outage may have lost only the answer, not the run.
        if (isRetry && (await isThere(queries, spec.runId))) return;
        if (!(await insertRun(queries, row, maxWaiting))) throw tooManyWaiting();
        await queue.send(queries, { runId: spec.runId, labels, ownerKey });
      });
    try {
      await duringOutages(once, { clock: this.#options.clock, signal: run.signal, forMs: submitForMs });
    } catch (error) {
      // Nobody will wait for the run, which may be in the queue.
      if (isOutage(error)) this.#cancel(spec.runId);
      throw toRunError(error);
    }
    queue.wake(labels);
  }

  /** Cancels a run whose caller does not wait any more. */
  #cancel(runId: string): void {
    const { database, log } = this.#options;
    const awaited = this.#awaited.get(runId);
    awaited?.fail(awaited.run.signal.reason);
    cancelRun(database, runId)
      .then((worker) => worker !== undefined && post(database, worker, "cancelled", runId))
      .catch((error: unknown) => log("warning", `The run ${runId} was not cancelled: ${String(error)}`));
  }

  async #read(runId: string, awaited: Awaited): Promise<void> {
    const [state] = await this.#options.database.query<RunState>(
      `select status, result, error, (
         select json_agg(json_build_array(e.fence, e.number, e.event) order by e.fence, e.number)::text
         from acp_skills.run_events e
         where e.run_id = r.run_id and (e.fence, e.number) > ($2::integer, $3::integer)
       ) as news
       from acp_skills.runs r where run_id = $1`,
      [runId, awaited.fence, awaited.number],
    );
    // The run is not committed yet, or is not awaited any more.
    if (state === undefined || this.#awaited.get(runId) !== awaited) return;
    for (const [fence, number, event] of JSON.parse(state.news ?? "[]") as [number, number, string][]) {
      [awaited.fence, awaited.number] = [fence, number];
      // Events are not recorded here, because workers do it.
      awaited.run.caller.onEvent?.({ runId, ...(JSON.parse(event) as RunStep & { readonly runId?: string }) });
    }
    const { status, result, error } = state;
    if (status === "queued" || status === "running") return;
    if (result !== null) {
      const ended = JSON.parse(result) as EndedRun["result"];
      awaited.end({ result: ended, blobs: ended.output_blobs });
      return;
    }
    awaited.fail(error === null ? lostRun(status) : toSkillsError(error));
  }

  /** Stops waiting for runs; those in the queue go on. */
  close(): void {
    for (const stop of this.#stops) stop();
    for (const { fail } of this.#awaited.values()) fail(new SkillsError("CLOSED", "The tools were closed."));
  }
}

async function isThere(queries: Queries, runId: string): Promise<boolean> {
  return (await queries.query("select 1 as one from acp_skills.runs where run_id = $1", [runId])).length > 0;
}

function tooManyWaiting(): SkillsError {
  const hint = "Wait a second, or for one of your runs to end, and try again.";
  return new SkillsError("RUNTIME_BUSY", "The queue of the cluster is full.", { facts: { hint } });
}

/** Converts an outage into RUNTIME_BUSY, after which the caller can try again. */
function toRunError(error: unknown): unknown {
  if (!isOutage(error)) return error;
  return new SkillsError("RUNTIME_BUSY", "The database of the cluster is not reached.", {
    cause: error,
    facts: { hint: "Try again in a moment." },
  });
}

function lostRun(status: StoredRun["status"]): SkillsError {
  const message =
    status === "cancelled"
      ? "The run was cancelled."
      : "The worker that executed the run is gone. It may have done a part of what it does, so it was not repeated.";
  return new SkillsError("INTERNAL", message);
}

function toSkillsError(json: string): SkillsError {
  const { code, message, hint } = JSON.parse(json) as { code: SkillsErrorCode; message: string; hint?: string };
  return new SkillsError(code, message, { facts: hint === undefined ? {} : { hint } });
}
