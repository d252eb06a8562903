import type { SharedPolicy } from "../../runtime/trust.ts";
import type { Database } from "../database.ts";
import { insertLedgerRow } from "../ledger.ts";
import { type FollowerOptions, follow } from "../database/follow.ts";

/** The commands of operators for the policy of a cluster. `set` takes a text that was checked. Each change adds a row to the ledger. */
export interface PolicyRecords {
  /** Reads the policy; undefined if there is none. `setAt`: milliseconds since 1970. */
  read(): Promise<{ readonly text: string; readonly setAt: number; readonly setBy: string } | undefined>;
  set(text: string): Promise<void>;
  /** Removes the policy. Returns whether there was one. */
  remove(): Promise<boolean>;
}

/** Opens the records of the policy in a database. `who`: the user of this process, for the ledger. */
export function openPolicyRecords(database: Database, who: string): PolicyRecords {
  const note = (about: string) =>
    ({ at: Date.now(), event: "policy", tool: "cluster", caller: who, about, door: "cli" }) as const;
  return {
    async read() {
      const [row] = await database.query<{ text: string; setAt: number; setBy: string }>(
        `select text, (extract(epoch from set_at) * 1000)::float8 as "setAt", set_by as "setBy" from acp_skills.policy`,
      );
      return row;
    },
    set: (text) =>
      database.transaction(async (queries) => {
        await queries.query(
          `insert into acp_skills.policy (text) values ($1)
           on conflict (single) do update set text = excluded.text, set_at = now(), set_by = session_user`,
          [text],
        );
        await insertLedgerRow(queries, note("set the policy of the cluster"));
      }),
    remove: () =>
      database.transaction(async (queries) => {
        const rows = await queries.query("delete from acp_skills.policy returning single");
        if (rows.length > 0) await insertLedgerRow(queries, note("removed the policy of the cluster"));
        return rows.length > 0;
      }),
  };
}

/** Follows the policy of the cluster. Before the first successful read, everything that a policy can deny is denied. */
export async function followPolicy(
  database: Database,
  options: FollowerOptions,
): Promise<{ readonly policy: () => SharedPolicy | undefined; readonly close: () => void }> {
  const name = "policy of the cluster";
  const fault = "it could not be read yet";
  let policy: SharedPolicy | undefined = { name, fault, fix: "Wait until the database can be reached." };
  const records = openPolicyRecords(database, "");
  async function read(): Promise<void> {
    const row = await records.read();
    if (row === undefined) policy = undefined;
    else if (policy === undefined || !("text" in policy) || policy.text !== row.text) policy = { name, text: row.text };
  }
  const { first, close } = follow(database, { channel: "acp_skills_callers", what: "policy", read }, options);
  await first;
  return { policy: () => policy, close };
}
