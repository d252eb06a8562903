import { type LedgerEntry, toLedgerLine } from "../runtime/ledger.ts";
import type { Queries } from "./database.ts";

export { openClusterLedger } from "./ledger/cluster-ledger.ts";

/** Writes an entry within a transaction, so that it exists exactly if the recorded event has happened. Rejects for an invalid time. */
export async function insertLedgerRow(queries: Queries, entry: LedgerEntry): Promise<void> {
  await queries.query("select acp_skills.write_ledger($1::text[])", [[toLedgerLine(entry)]]);
}
