import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";

export { openDatabase } from "./database/open-database.ts";
export { parseClusterUrl } from "./database/cluster-url.ts";
export { migrate, schemaFault } from "./database/migrate.ts";

/** What runs statements: the database, or a transaction of it. */
export interface Queries {
  /**
   * Runs one statement. Columns of type `bigint` and times have to be cast in it, to `float8`. Rejects with `QUERY_FAILED`'s reason, see
   * `databaseFault`.
   */
  query<Row extends object = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<readonly Row[]>;
}

/**
 * The port to the database of a cluster: all that its members share. What is stored is named in full (`acp_skills.runs`), and all times are
 * those of the database, because the clocks of members differ.
 */
export interface Database extends Queries {
  /** Commits what `work` did when it resolves; rejects as it does, and nothing was done. `isDurable`: waits for the disk; default: true. */
  transaction<Result>(
    work: (queries: Queries) => Promise<Result>,
    options?: { readonly isDurable?: boolean },
  ): Promise<Result>;
  /**
   * Calls `take`, which must not throw, with each value of a select's only column, of type `bytea`, in a fraction of the time that `query` takes
   * for many bytes. What the select depends on stands in it as `current_setting('acp_skills.v1')` and so on, as texts.
   */
  readBytes(select: string, values: readonly string[], take: (bytes: Buffer) => void): Promise<void>;
  /**
   * Calls `onMessage` at each message of a channel, and `onConnected` whenever messages arrive (again): those from before may be lost, so
   * that what they are about has to be read. Neither may throw. Returns a function that ends this.
   */
  listen(channel: ClusterChannel, onMessage: (payload: string) => void, onConnected: () => void): () => void;
  /** Sends a message soon. It is lost in an outage, so that whoever waits for one has to ask now and then, too. Never throws. */
  notify(channel: ClusterChannel, payload: string): void;
  /** Waits for nothing that still runs. Idempotent; never rejects. */
  close(): Promise<void>;
}

/** The channels of messages between members, each of which has one of its own. A message only names what has changed. */
export type ClusterChannel =
  "acp_skills_catalog" | "acp_skills_callers" | "acp_skills_queues" | `acp_skills_to_${string}`;

export interface DatabaseOptions {
  /** Reports lost connections, once until there is one again. */
  readonly log: Log;
  readonly clock: Clock;
  /** Statements at a time; further ones wait. Default: 10. */
  readonly connections?: number | undefined;
}
