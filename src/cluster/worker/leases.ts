import { type Clock, every } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Database } from "../database.ts";
import { type ClaimedRun, renewLeases } from "../runs/run-rows.ts";

/** The reason that ends a run from outside: the run was cancelled, or this worker has lost its lease. */
export class RunTakenAway extends Error {
  readonly isCancelled: boolean;

  constructor(isCancelled: boolean) {
    super(isCancelled ? "The run was cancelled." : "The lease of the run is over.");
    this.isCancelled = isCancelled;
  }
}

interface HeldRun {
  readonly run: Pick<ClaimedRun, "runId" | "fence">;
  readonly abort: AbortController;
  /** The end of the lease, by the clock of this member. */
  until: number;
}

/** The leases of the runs that this worker executes. A run whose lease cannot be renewed ends before another worker may take it. */
export interface Leases {
  /** Holds the lease of a run, claimed at `claimedAt` by the clock of this member. Returns a function that ends the hold. */
  hold(run: HeldRun["run"], abort: AbortController, claimedAt: number): () => void;
  cancel(runId: string): void;
  /** Renews all leases now, which reveals runs that were cancelled by a lost message. */
  renew(): Promise<void>;
  close(): void;
}

export function openLeases(
  database: Database,
  options: { readonly worker: string; readonly leaseMs: number; readonly clock: Clock; readonly log: Log },
): Leases {
  const { worker, leaseMs, clock, log } = options;
  const held = new Map<string, HeldRun>();

  async function renew(): Promise<void> {
    const all = [...held.values()];
    if (all.length === 0) return;
    const sentAt = clock.now();
    const runs = all.map(({ run }) => run);
    const renewed = await renewLeases(database, worker, runs, leaseMs);
    const own = new Map(renewed.map((one) => [one.runId, one]));
    for (const one of all) {
      const found = own.get(one.run.runId);
      if (found === undefined) one.abort.abort(new RunTakenAway(false));
      else if (found.cancelled) one.abort.abort(new RunTakenAway(true));
      else one.until = sentAt + leaseMs;
    }
  }

  const stop = every(clock, leaseMs / 4, async () => {
    await renew().catch((error: unknown) => log("warning", `Leases of runs were not renewed: ${String(error)}`));
    const now = clock.now();
    for (const { abort, until } of held.values()) if (until <= now) abort.abort(new RunTakenAway(false));
  });
  return {
    hold(run, abort, claimedAt) {
      const one = { run, abort, until: claimedAt + leaseMs };
      held.set(run.runId, one);
      return () => {
        if (held.get(run.runId) === one) held.delete(run.runId);
      };
    },
    cancel: (runId) => held.get(runId)?.abort.abort(new RunTakenAway(true)),
    renew,
    close: stop,
  };
}
