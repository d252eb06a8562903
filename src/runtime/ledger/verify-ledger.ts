import { setImmediate } from "node:timers/promises";
import { lstatSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { isObject, parseIfJson } from "../../base/json/json-value.ts";
import { type LedgerDirectoryName, ledgerDirectories } from "./disk-ledger.ts";
import {
  type ChainEnd,
  chainStart,
  chained,
  fileOf,
  fromLedgerLine,
  numbersIn,
  readIfThere,
  wholeLines,
} from "./ledger-line.ts";
import { newestName } from "./ledger-directory.ts";

export interface LedgerCheck {
  readonly room: LedgerDirectoryName;
  /** The first and the last existing row, counted from 1; rows before the first were removed by age or size. */
  readonly first: number;
  readonly last: number;
  /** The digest at the end of the chain, to be noted elsewhere. */
  readonly digest: string;
  /** How many rows of earlier versions, without digests, are at the start: each is protected by the rows after it. */
  readonly unchained: number;
  /** The first row that is missing or was changed, and why that is known. */
  readonly fault?: { readonly row: number; readonly why: string };
}

/** Maximum bytes that are read of a file; files of acp-skills are shorter. */
const maxFileBytes = 256 * 1024 * 1024;
/** Maximum number of rows that were written at the same moment: a row names the chain end before all of them. */
const maxAtOnce = 10_000;

/**
 * Checks that no row of a ledger was changed, removed or moved. `audits`: lines of files that were written by `--audit`, whose chain ends
 * must be those of the ledger, too. Throws UNREADABLE.
 */
export async function verifyLedger(directory: string, audits: Iterable<string> = []): Promise<readonly LedgerCheck[]> {
  const known = new Map<string, Map<number, string>>();
  for (const line of audits) {
    const value = parseIfJson(line);
    const { room } = isObject(value) ? value : {};
    const { before } = fromLedgerLine(line);
    if (typeof room !== "string" || before === undefined) continue;
    const ends = known.get(room) ?? new Map<number, string>();
    known.set(room, ends.set(before.rows, before.digest));
  }
  const verified: LedgerCheck[] = [];
  for (const room of Object.keys(ledgerDirectories) as LedgerDirectoryName[])
    verified.push(await verify(room, path.join(directory, ledgerDirectories[room]), known.get(room) ?? new Map()));
  return verified;
}

interface Row {
  readonly before: ChainEnd;
  readonly line: Uint8Array;
}

async function verify(room: LedgerDirectoryName, directory: string, known: ReadonlyMap<number, string>) {
  const newest = await newestOf(directory);
  const numbers = numbersIn(directory).filter((number) => lstatSync(fileOf(directory, number)).isFile());
  /** The chain digests after the last rows, by number of rows. */
  const digests = new Map([[chainStart.rows, chainStart.digest]]);
  let end = chainStart;
  let first = 1;
  let unchained = 0;
  let dropped = 0;
  let isStarted = false;
  /** The last row whose digest did not fit the chain. */
  let doubted: Row | undefined;
  let fault: LedgerCheck["fault"];
  let handled = 0;

  const fail = (row: number, why: string): void => {
    fault ??= { row, why };
  };
  /** Reports the row at fault: the doubted row if the next row contradicts it, else an earlier one. */
  function finish(next: ChainEnd | undefined): void {
    if (doubted === undefined) return;
    const { before, line } = doubted;
    const claimed = fromLedgerLine(Buffer.from(line).toString()).before;
    const isItself = claimed === undefined || next?.digest !== chained(claimed, line).digest;
    const row = isItself && next !== undefined ? before.rows + 1 : Math.max(1, claimed?.rows ?? before.rows);
    fail(row, `a row after row ${row} has another digest of it`);
    doubted = undefined;
  }
  function take(line: Uint8Array): void {
    const { entry, before } = fromLedgerLine(Buffer.from(line).toString());
    if (!isStarted && before !== undefined) {
      end = before.rows === 0 ? chainStart : before;
      first = end.rows + 1;
      digests.set(end.rows, end.digest);
    }
    isStarted = true;
    finish(before);
    if (before === undefined) {
      if (unchained === end.rows) unchained += entry === undefined ? 0 : 1;
      else if (entry !== undefined) fail(end.rows + 1, "it has no digest of the rows before it");
    } else if (before.rows < first - 1) fail(before.rows + 1, `it comes after row ${first}`);
    else if (before.rows > end.rows) fail(end.rows + 1, `row ${before.rows + 1} follows row ${end.rows}`);
    else if (digests.get(before.rows) !== before.digest) doubted = { before: end, line };
    if (entry?.event === "dropped") dropped = Math.max(dropped, entry.count ?? 0);
    end = chained(end, line);
    digests.set(end.rows, end.digest);
    digests.delete(end.rows - maxAtOnce);
    const noted = known.get(end.rows) ?? (newest?.rows === end.rows ? newest.digest : undefined);
    const isChained = unchained < end.rows;
    if (isChained && noted !== undefined && noted !== end.digest && doubted === undefined)
      fail(end.rows, `another digest of the first ${end.rows} rows was noted`);
  }

  for (const number of numbers) {
    // Each file of earlier versions has its own chain: the writer of the first digest had read only the last of them.
    if (unchained === end.rows) {
      end = chainStart;
      unchained = 0;
    }
    for (const line of wholeLines(await readIfThere(directory, number, maxFileBytes))) {
      take(line);
      if (fault !== undefined) break;
      if (++handled % 1_000 === 0) await setImmediate();
      // Rows after the seal were written to the next file again.
      if (fromLedgerLine(Buffer.from(line).toString()).entry?.event === "sealed") break;
    }
    if (fault !== undefined) break;
  }
  finish(undefined);
  let maxRows = newest?.rows ?? 0;
  for (const rows of known.keys()) maxRows = Math.max(maxRows, rows);
  if (dropped < first - 1)
    fail(dropped + 1, `the first row is row ${first}, and no row says that those before it were removed`);
  if (maxRows > end.rows) fail(end.rows + 1, `there were at least ${maxRows} rows`);
  return { room, first, last: end.rows, digest: end.digest, unchained, ...(fault && { fault }) };
}

async function newestOf(directory: string): Promise<ChainEnd | undefined> {
  const value = parseIfJson(await readFile(path.join(directory, newestName), "utf8").catch(() => ""));
  if (!isObject(value)) return undefined;
  const { rows, digest } = value;
  return typeof rows === "number" && typeof digest === "string" ? { rows, digest } : undefined;
}
