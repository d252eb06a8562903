import { type Clock, every, withinTime } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { latestWork } from "../../base/promises.ts";
import type { ClusterChannel, Database } from "../database.ts";

export interface FollowerOptions {
  readonly log: Log;
  readonly clock: Clock;
}

interface Followed {
  readonly channel: ClusterChannel;
  /** The noun in messages, such as "callers". */
  readonly what: string;
  readonly read: () => Promise<void>;
}

export interface Follower {
  /** Resolves after the first attempt or three seconds; never rejects. */
  readonly first: Promise<unknown>;
  /** Milliseconds since the last successful read; undefined before the first. */
  readonly age: () => number | undefined;
  /** Stops following. Idempotent. */
  readonly close: () => void;
}

/** The interval of reads without messages. */
const pollEveryMs = 10_000;
const reportEveryMs = 5 * 60_000;
/** The maximum time for which a starting member waits. */
const firstReadMs = 3_000;

/** Calls `read` now, at each message of the channel, and every 10 s. In an outage the last state stays in force; its age is logged. */
export function follow(
  database: Database,
  { channel, what, read }: Followed,
  { log, clock }: FollowerOptions,
): Follower {
  let isOpen = true;
  let readAt: number | undefined;
  let reportedAt: number | undefined;
  const age = (): number | undefined => (readAt === undefined ? undefined : clock.now() - readAt);

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
      const since = age();
      const known =
        since === undefined
          ? "nothing has been read yet"
          : `what was read ${Math.round(since / 1_000)} s ago stays in force`;
      log("warning", `The ${what} of the cluster cannot be read; ${known}: ${String(error)}`);
    },
  );
  const readAgain = (): void => void again();
  const stopListening = database.listen(channel, readAgain, readAgain);
  const stopPolling = every(clock, pollEveryMs, again);
  return {
    first: withinTime(again(), clock, firstReadMs),
    age,
    close() {
      isOpen = false;
      stopPolling();
      stopListening();
    },
  };
}
