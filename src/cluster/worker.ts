import { randomUUID } from "node:crypto";
import { every } from "../base/clock.ts";
import { SkillsError } from "../base/errors.ts";
import { inShort, isNothing } from "../skills/permissions.ts";
import { openApp } from "../runtime/app.ts";
import type { Settings } from "../runtime/options.ts";
import { runSpec } from "../runtime/runs.ts";
import type { Database, Queries } from "./database.ts";
import { insertLedgerRow } from "./ledger.ts";
import { joinCluster } from "./members.ts";
import { connectMember, openShared } from "./open-cluster.ts";
import { type JobQueue, openJobQueue } from "./runs/job-queue.ts";
import { openMailbox, post } from "./runs/mailbox.ts";
import { submittedContext } from "./runs/submitted-context.ts";
import { sweepRuns } from "./runs/run-records.ts";
import { type ClaimedRun, expireLeases, forgottenRuns, reapRuns } from "./runs/run-rows.ts";
import { executeClaimed } from "./worker/execute-claimed.ts";
import { RunTakenAway, openLeases } from "./worker/leases.ts";
import { takeRuns } from "./worker/take-runs.ts";

export interface WorkerOptions {
  /** The maximum number of runs at a time. */
  readonly concurrency: number;
  /** Labels besides `tier=…`, `arch=…` and `os=…`, which each worker has. */
  readonly labels: readonly string[];
  /** How long runs may go on when the worker ends, in milliseconds. */
  readonly drainMs: number;
  readonly leaseMs: number;
  /** Called once, when the worker begins to take runs. */
  readonly started: (worker: { readonly id: string; readonly labels: readonly string[] }) => void;
}

const sweepEveryMs = 10 * 60_000;

/** Executes runs of the cluster until `signal` is aborted. Rejects with INVALID_OPTIONS, or SANDBOX_UNAVAILABLE if no code can be run. */
export async function runWorker(settings: Settings, options: WorkerOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, version } = settings;
  const { concurrency, drainMs, leaseMs } = options;
  const database = await connectMember(settings, concurrency + 6);
  const closing: (() => unknown)[] = [() => database.close()];
  try {
    const worker = randomUUID();
    const shared = await openShared(database, settings, worker);
    const app = openApp(settings, shared.ports);
    closing.push(
      () => shared.close(),
      () => app.close(),
    );
    const labels = await labelsOf(app, options.labels);
    const member = { id: worker, kind: "worker", version, labels, concurrency, clock, log } as const;
    const own = await joinCluster(database, member);
    closing.push(() => own.leave());
    const queue = openJobQueue(database, { log, supervise: true });
    closing.push(() => queue.close());
    const leases = openLeases(database, { worker, leaseMs, clock, log });
    const closeMailbox = openMailbox(
      database,
      worker,
      "cancelled",
      (runId) => leases.cancel(runId),
      () => void leases.renew().catch(() => undefined),
    );
    const stopReaping = reapEvery(leaseMs / 3, database, queue, settings);
    const stores = { app, packs: shared.packs, database, clock, log };
    const endRuns = takeRuns({
      ...{ database, queue, leases, worker, labels, concurrency, leaseMs, clock, log },
      recordClaim,
      execute: async (claimed, abort) => await executeClaimed(claimed, stores, abort),
    });
    options.started({ id: worker, labels });
    if (!signal.aborted)
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    await endRuns(drainMs, new RunTakenAway(false));
    stopReaping();
    leases.close();
    closeMailbox();
    await expireLeases(database, worker).catch(() => undefined);
    await reap(database, queue, leaseMs).catch(() => undefined);
  } finally {
    for (const close of closing.reverse()) await Promise.resolve(close()).catch(() => undefined);
  }
}

async function labelsOf(app: ReturnType<typeof openApp>, own: readonly string[]): Promise<readonly string[]> {
  const sandbox = await app.findSandbox();
  if ("reason" in sandbox)
    throw new SkillsError("SANDBOX_UNAVAILABLE", sandbox.reason, {
      facts: { hint: "acp-skills doctor says how to fix that." },
    });
  return [...new Set([`tier=${sandbox.tier}`, `arch=${process.arch}`, `os=${process.platform}`, ...own])].toSorted();
}

/** Records a run that reaches beyond its sandbox in the transaction of its claim: without a record there is no claim. */
async function recordClaim(queries: Queries, { runId, spec: text, context }: ClaimedRun): Promise<void> {
  const spec = runSpec.safeParse(JSON.parse(text)).data;
  const given = submittedContext.safeParse(JSON.parse(context)).data;
  // Either another version wrote the run, which is then refused, or the run stays in its sandbox.
  if (spec === undefined || given === undefined || isNothing(spec.needs)) return;
  const { by, caller, project } = given;
  const { skill, session, subagent, door } = spec;
  await insertLedgerRow(queries, {
    at: Date.now(),
    event: "start",
    tool: "execute_skill",
    ...(skill && { skill: skill.name, version: skill.version, digest: skill.digest }),
    ...(caller !== undefined && { caller }),
    ...(project !== undefined && { project }),
    runId,
    ...(session !== undefined && { sessionId: session }),
    ...(subagent !== undefined && { subagent }),
    door,
    outcome: "started",
    about: inShort(spec.needs),
    grant: by,
  });
}

/** Wakes workers for runs that were lost or long not claimed. Notifies the members that wait for runs that are given up. */
async function reap(database: Database, queue: JobQueue, forgottenAfterMs: number): Promise<void> {
  const found = await database.transaction(async (queries) => {
    const runs = [...(await reapRuns(queries)), ...(await forgottenRuns(queries, forgottenAfterMs))];
    for (const run of runs) {
      await queue.remove(queries, run);
      if (run.status === "queued") await queue.send(queries, run);
    }
    return runs;
  });
  for (const { status, labels, member, runId } of found) {
    if (status === "queued") queue.wake(labels);
    else if (member !== null) post(database, member, "changed", runId);
  }
}

/** Reaps the runs of all workers every `ms` milliseconds, varied so that workers do not coincide. Returns a function that ends this. */
function reapEvery(ms: number, database: Database, queue: JobQueue, { clock, log }: Settings): () => void {
  let sweptAt = clock.now();
  return every(
    clock,
    () => ms * (0.75 + Math.random() / 2),
    async () => {
      const isDue = clock.now() - sweptAt >= sweepEveryMs;
      if (isDue) sweptAt = clock.now();
      try {
        await reap(database, queue, ms);
        if (isDue) await sweepRuns(database);
      } catch (error) {
        log("warning", `Lost runs were not queued again: ${String(error)}`);
      }
    },
  );
}
