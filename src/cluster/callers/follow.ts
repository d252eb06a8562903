import { type Clock, every, withinTime } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { latestWork } from "../../base/promises.ts";
import type { Database } from "../database.ts";

export interface FollowerOptions {
  readonly log: Log;
  readonly clock: Clock;
}

/** Where no message arrives. */
const pollEveryMs = 10_000;
const reportEveryMs = 5 * 60_000;
/** A member does not wait for longer until it begins. */
const firstReadMs = 2_000;

/**
 * Calls `read` now, at each message about callers and the policy, and every ten seconds. What was read last stays in force in an outage,
 * whose age is logged. Resolves after the first attempt or two seconds, with a function that ends this. `what`: "callers", in a sentence.
 */
export async function follow(
  database: Database,
  what: string,
  read: () => Promise<void>,
  { log, clock }: FollowerOptions,
): Promise<() => void> {
  let isOpen = true;
  let readAt: number | undefined;
  let reportedAt: number | undefined;

  const again = latestWork(
    async () => {
      if (!isOpen) return;
      await read();
      readAt = clock.now();
      if (reportedAt !== undefined) log("info", `The ${what} of the cluster can be read again.`);
      reportedAt = undefined;
    },
    (error) => {
      const now = clock.now();
      if (!isOpen || (reportedAt !== undefined && now - reportedAt < reportEveryMs)) return;
      reportedAt = now;
      const age =
        readAt === undefined
          ? "nothing has been read yet"
          : `what was read ${Math.round((now - readAt) / 1_000)} s ago stays in force`;
      log("warning", `The ${what} of the cluster cannot be read; ${age}: ${String(error)}`);
    },
  );
  const stopListening = database.listen(
    "acp_skills_callers",
    () => void again(),
    () => void again(),
  );
  await withinTime(again(), clock, firstReadMs);
  const stopPolling = every(clock, pollEveryMs, again);
  return () => {
    isOpen = false;
    stopPolling();
    stopListening();
  };
}
