import path from "node:path";
import type { Log } from "../../base/log.ts";
import { userName } from "../../base/processes/user-name.ts";
import type { Ledger } from "../ledger.ts";
import { type DiskLedgerOptions, diskLedger } from "./disk-ledger.ts";

/** Where the ledger of a data directory is. */
export function ledgerDirectory(dataDirectory: string): string {
  return path.join(dataDirectory, "ledger");
}

/**
 * The ledger of the user who runs this process. `$ACP_SKILLS_LEDGER_DAYS` and `$ACP_SKILLS_LEDGER_MIB` say how long decisions and runs are
 * retained, and how much of each at most.
 */
export function localLedger(
  dataDirectory: string,
  { log, audit, now }: Pick<DiskLedgerOptions, "log" | "now"> & { readonly audit?: string | undefined },
): Ledger {
  const days = numberIn("ACP_SKILLS_LEDGER_DAYS", log);
  const mebibytes = numberIn("ACP_SKILLS_LEDGER_MIB", log);
  return diskLedger(ledgerDirectory(dataDirectory), {
    log,
    user: userName(),
    ...(days !== undefined && { maxAgeMs: days * 24 * 60 * 60 * 1_000 }),
    ...(mebibytes !== undefined && { maxBytes: mebibytes * 1024 * 1024 }),
    ...(now !== undefined && { now }),
    audit: audit === "-" ? (line) => log("info", `ledger: ${line}`) : audit,
  });
}

function numberIn(name: string, log: Log): number | undefined {
  const text = process.env[name] ?? "";
  if (text === "") return undefined;
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  log(
    "warning",
    `$${name} needs a whole number from 1 to 99999, not ${JSON.stringify(text.slice(0, 64))}; the default counts.`,
  );
  return undefined;
}
