import { inBatches } from "../../base/promises.ts";
import type { Database, Queries } from "../database.ts";

/**
 * Sends messages in transactions of their own that do not wait for the disk: PostgreSQL commits what notifies one after the other, in all of
 * a database.
 */
export function openNotices(queries: Queries): Database["notify"] {
  const send = inBatches<readonly [channel: string, payload: string]>((given) =>
    queries.query(
      `select set_config('synchronous_commit', 'off', true), pg_notify(channel, payload)
       from unnest($1::text[], $2::text[]) as given (channel, payload)`,
      [given.map(([channel]) => channel), given.map(([, payload]) => payload)],
    ),
  );
  return (channel, payload) => void send([channel, payload]).catch(() => undefined);
}
