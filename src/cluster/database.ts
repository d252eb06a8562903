import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";

export { openDatabase } from "./database/open-database.ts";
export { parseClusterUrl } from "./database/cluster-url.ts";
export { migrate, schemaFault } from "./database/migrate.ts";

/** An executor of statements: the database, or a transaction of it. */
export interface Queries {
  /** Runs one statement, which must cast columns of type `bigint` and times to `float8`. Rejects with `DatabaseError`, or with CLOSED. */
  query<Row extends object = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<readonly Row[]>;
}

/**
 * The port to the database of a cluster, which all members share. Statements name tables in full (`acp_skills.runs`). All times are those
 * of the database, because the clocks of members differ.
 */
export interface Database extends Queries {
  /** Commits what `work` did when it resolves; rejects as it does, without any change. `isDurable` (default): waits for the disk. */
  transaction<Result>(
    work: (queries: Queries) => Promise<Result>,
    options?: { readonly isDurable?: boolean },
  ): Promise<Result>;
  /**
   * Calls `take`, which must not throw, with each value of a select's only column, of type `bytea`. For many bytes it needs a fraction of
   * the time of `query`. The select refers to the texts in `values` as `current_setting('acp_skills.v1')` and so on.
   */
  readBytes(select: string, values: readonly string[], take: (bytes: Buffer) => void): Promise<void>;
  /**
   * Calls `onMessage` for each message of a channel, and `onConnected` whenever messages begin to arrive (again). Earlier messages may be
   * lost, so that the state has to be read then. Neither may throw. Returns a function that ends the subscription.
   */
  listen(channel: ClusterChannel, onMessage: (payload: string) => void, onConnected: () => void): () => void;
  /** Sends a message soon. It is lost in an outage, so that receivers also have to poll. Never throws. */
  notify(channel: ClusterChannel, payload: string): void;
  /** Closes the connections; those in use, after their statements. Idempotent; never rejects. */
  close(): Promise<void>;
}

/** The channels of messages between members; each member has one of its own. A message only names what has changed. */
export type ClusterChannel =
  "acp_skills_catalog" | "acp_skills_callers" | "acp_skills_queues" | `acp_skills_to_${string}`;

export interface DatabaseOptions {
  /** Reports a lost connection once, until there is one again. */
  readonly log: Log;
  readonly clock: Clock;
  /** The maximum number of statements at a time; further ones wait. Default: 10. */
  readonly connections?: number | undefined;
}
