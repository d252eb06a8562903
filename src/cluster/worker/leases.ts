import { type Clock, every } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Database } from "../database.ts";
import { type ClaimedRun, renewLeases } from "../runs/run-rows.ts";

/** What ends a run from outside: it was cancelled, or this worker has lost it to others. */
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
  /** By the clock of this member. */
  until: number;
}

/** The leases of the runs that this worker executes. A run whose lease cannot be renewed ends before another worker may take it. */
export class Leases {
  readonly #held = new Map<string, HeldRun>();
  readonly #database: Database;
  readonly #worker: string;
  readonly #leaseMs: number;
  readonly #clock: Clock;
  readonly #stop: () => void;

  constructor(
    database: Database,
    {
      worker,
      leaseMs,
      clock,
      log,
    }: { readonly worker: string; readonly leaseMs: number; readonly clock: Clock; readonly log: Log },
  ) {
    [this.#database, this.#worker, this.#leaseMs, this.#clock] = [database, worker, leaseMs, clock];
    this.#stop = every(clock, leaseMs / 4, async () => {
      await this.renew().catch((error: unknown) => log("warning", `Leases of runs were not renewed: ${String(error)}`));
      const now = clock.now();
      for (const { abort, until } of this.#held.values()) if (until <= now) abort.abort(new RunTakenAway(false));
    });
  }

  /** `claimedAt`: when the claim was sent, by the clock of this member. */
  hold(run: Pick<ClaimedRun, "runId" | "fence">, abort: AbortController, claimedAt: number): () => void {
    const held = { run, abort, until: claimedAt + this.#leaseMs };
    this.#held.set(run.runId, held);
    return () => {
      if (this.#held.get(run.runId) === held) this.#held.delete(run.runId);
    };
  }

  cancel(runId: string): void {
    this.#held.get(runId)?.abort.abort(new RunTakenAway(true));
  }

  /** Renews all leases now: messages may have been lost. */
  async renew(): Promise<void> {
    const all = [...this.#held.values()];
    if (all.length === 0) return;
    const sentAt = this.#clock.now();
    const renewed = await renewLeases(
      this.#database,
      this.#worker,
      all.map(({ run }) => run),
      this.#leaseMs,
    );
    const own = new Map(renewed.map((one) => [one.runId, one]));
    for (const held of all) {
      const found = own.get(held.run.runId);
      if (found === undefined) held.abort.abort(new RunTakenAway(false));
      else if (found.cancelled) held.abort.abort(new RunTakenAway(true));
      else held.until = sentAt + this.#leaseMs;
    }
  }

  close(): void {
    this.#stop();
  }
}
