import path from "node:path";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { systemCode } from "../../base/failures/system-error.ts";
import type { Log } from "../../base/log.ts";
import type { Ledger, LedgerEntry } from "../ledger.ts";
import { LedgerDirectory } from "./ledger-directory.ts";
import { userName } from "../../base/processes/live-process.ts";
import type { Clock } from "../../base/clock.ts";

export interface DiskLedgerOptions {
  /** Warns once while entries cannot be written, and once when decisions or runs are removed. */
  readonly log: Log;
  /** The user who runs this process: the caller of entries that name none. */
  readonly user?: string;
  /** A new file is started at this size. Default 1 MiB. */
  readonly maxFileBytes?: number;
  /** Maximum size of the decisions, and of the runs: beyond it, the oldest are removed. Default 64 MiB. */
  readonly maxBytes?: number;
  /** Decisions and runs are removed by age only after this time. Default 90 days, in milliseconds. */
  readonly maxAgeMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Gets each line, too: a file, reopened for each line so that others can move it away; `-` for the log; or a function. */
  readonly audit?: string | ((line: string) => void) | undefined;
}

/** The sections of the ledger, which fill up separately, with the paths of their files below the ledger's directory. */
export const ledgerDirectories = { decisions: "decisions", runs: "runs", uses: "." } as const;

export type LedgerDirectoryName = keyof typeof ledgerDirectories;

/** Tools that run code. */
const running: ReadonlySet<string> = new Set(["execute_skill", "run_code", "replay"]);

/** The section of an entry: decisions and changes; runs; or reads and refusals, of which everybody can cause any number. */
function directoryNameOf({ event, tool, outcome }: LedgerEntry): LedgerDirectoryName {
  if (event === "start" || event === "send") return "runs";
  if (event === "refusal") return "uses";
  if (event !== undefined) return "decisions";
  return running.has(tool) && outcome !== "refused" ? "runs" : "uses";
}

const dayMs = 24 * 60 * 60 * 1_000;

/**
 * A ledger in a directory shared by any number of processes; see {@link LedgerDirectory}. Reads and refusals take at most twice
 * `maxFileBytes`. The directory is created with the first entry; reading changes nothing.
 */
export function diskLedger(directory: string, options: DiskLedgerOptions): Ledger {
  const { log, user, maxFileBytes = 1024 * 1024, maxBytes = 64 * 1024 * 1024, maxAgeMs = 90 * dayMs } = options;
  const { now = Date.now, audit } = options;
  let [isReported, isDropReported, isOpen] = [false, false, true];
  const writeAudit = openAudit(audit, log);
  const open = (name: LedgerDirectoryName): LedgerDirectory =>
    new LedgerDirectory(path.join(directory, ledgerDirectories[name]), {
      maxFileBytes,
      maxBytes: name === "uses" ? 2 * maxFileBytes : maxBytes,
      maxAgeMs,
      now,
      dropped: (about) => {
        // Reads and refusals are removed all the time, and rows of the ledger record it.
        if (name === "uses" || isDropReported) return;
        log("warning", `Old rows of the ledger are removed: ${name}, ${about}.`);
        isDropReported = true;
      },
    });
  const directories = { decisions: open("decisions"), runs: open("runs"), uses: open("uses") };

  return {
    record(entry) {
      if (!isOpen) return "it was closed";
      try {
        const name = directoryNameOf(entry);
        writeAudit(entry, directories[name].record({ ...(user !== undefined && { caller: user }), ...entry }));
        isReported = false;
        return undefined;
      } catch (error) {
        if (!isReported) log("warning", `Uses of skills cannot be recorded in ${directory}: ${String(error)}`);
        isReported = true;
        return systemCode(error) || "see the log";
      }
    },
    read: () => byTime(Object.values(directories).map((rows) => rows.read())),
    close() {
      isOpen = false;
      for (const rows of Object.values(directories)) rows.close();
    },
  };
}

/** Returns a function that writes each line to `audit`, too, with the section of its entry; see `DiskLedgerOptions`. Never throws. */
export function openAudit(audit: DiskLedgerOptions["audit"], log: Log): (entry: LedgerEntry, line: string) => void {
  let isReported = false;
  return (entry, line) => {
    if (audit === undefined) return;
    const text = `{"room":"${directoryNameOf(entry)}",${line.slice(1)}\n`;
    try {
      if (typeof audit === "string" && audit !== "-") appendTo(audit, text);
      else if (audit === "-") log("info", `ledger: ${text.trimEnd()}`);
      else audit(text.trimEnd());
      isReported = false;
    } catch (error) {
      if (!isReported) log("error", `The audit cannot be written: ${String(error)}`);
      isReported = true;
    }
  };
}

function appendTo(file: string, text: string): void {
  const { O_NONBLOCK = 0 } = constants as Partial<typeof constants>;
  const descriptor = openSync(file, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | O_NONBLOCK, 0o600);
  try {
    writeSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}

/** Merges lists by time. Each list stays in its own order. */
async function* byTime(lists: readonly AsyncGenerator<LedgerEntry, void>[]): AsyncGenerator<LedgerEntry, void> {
  const heads = await Promise.all(lists.map((list) => list.next()));
  for (;;) {
    let first = -1;
    for (const [index, { value, done }] of heads.entries())
      if (done !== true && (first < 0 || value.at < (heads[first]?.value?.at ?? Infinity))) first = index;
    const [head, list] = [heads[first], lists[first]];
    if (head === undefined || head.done === true || list === undefined) return;
    yield head.value;
    heads[first] = await list.next();
  }
}

/** The path of the ledger in a data directory. */
export function ledgerDirectory(dataDirectory: string): string {
  return path.join(dataDirectory, "ledger");
}

/**
 * The ledger of the user who runs this process. `$ACP_SKILLS_LEDGER_DAYS` sets how long decisions and runs are retained, and
 * `$ACP_SKILLS_LEDGER_MIB` the maximum size of each.
 */
export function localLedger(
  dataDirectory: string,
  { log, audit, now }: Pick<DiskLedgerOptions, "log" | "now"> & { readonly audit?: string | undefined },
): Ledger {
  const days = ledgerDays(log);
  const mebibytes = numberIn("ACP_SKILLS_LEDGER_MIB", log);
  return diskLedger(ledgerDirectory(dataDirectory), {
    log,
    user: userName(),
    ...(days !== undefined && { maxAgeMs: days * 24 * 60 * 60 * 1_000 }),
    ...(mebibytes !== undefined && { maxBytes: mebibytes * 1024 * 1024 }),
    ...(now !== undefined && { now }),
    audit,
  });
}

/** How many days rows are retained at least, as this user configured; undefined for the default. */
export function ledgerDays(log: Log): number | undefined {
  return numberIn("ACP_SKILLS_LEDGER_DAYS", log);
}

function numberIn(name: string, log: Log): number | undefined {
  const text = process.env[name] ?? "";
  if (text === "") return undefined;
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  const shown = JSON.stringify(text.slice(0, 64));
  log("warning", `$${name} needs a whole number from 1 to 99999, not ${shown}; the default counts.`);
  return undefined;
}

const windowMs = 60_000;
/** Maximum number of requested names in a row. */
const maxNames = 3;
/** Maximum number of windows: beyond it, the oldest is written at once. */
const maxWindows = 1_000;

interface Window {
  count: number;
  last: LedgerEntry;
  /** The first requested names, at most `maxNames`. */
  readonly asked: Set<string>;
  readonly stop: () => void;
}

/**
 * Wraps a ledger so that the refusals of one caller for one reason are two rows a minute. The first row is the first refusal. The second
 * row counts the others and has the facts of the last. So nobody can fill the ledger with refusals.
 */
export function countRefusals(ledger: Ledger, clock: Clock): Ledger {
  const windows = new Map<string, Window>();

  function end(key: string): void {
    const window = windows.get(key);
    windows.delete(key);
    window?.stop();
    if (window === undefined || window.count === 0) return;
    const { last, count, asked } = window;
    const names = asked.size > 1 ? { about: `asked for ${[...asked].join(", ")}` } : {};
    ledger.record({ ...last, ...names, count });
  }

  return {
    record(entry) {
      if (entry.outcome !== "refused" && entry.event !== "refusal") return ledger.record(entry);
      const { caller, door, sessionId, event, code } = entry;
      const key = JSON.stringify([caller, door, sessionId, event, code]);
      const window = windows.get(key);
      if (window !== undefined) {
        window.count++;
        window.last = entry;
        if (entry.asked !== undefined && window.asked.size < maxNames) window.asked.add(entry.asked.slice(0, 64));
        return undefined;
      }
      const fault = ledger.record(entry);
      const [oldest] = windows.size < maxWindows ? [] : windows.keys();
      if (oldest !== undefined) end(oldest);
      windows.set(key, { count: 0, last: entry, asked: new Set(), stop: clock.after(windowMs, () => end(key)) });
      return fault;
    },
    async flush() {
      return await ledger.flush?.();
    },
    read: () => ledger.read(),
    close() {
      for (const key of [...windows.keys()]) end(key);
      ledger.close();
    },
  };
}
