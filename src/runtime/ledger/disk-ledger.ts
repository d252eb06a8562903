import path from "node:path";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { systemCode } from "../../base/failures/system-error.ts";
import type { Log } from "../../base/log.ts";
import type { Ledger, LedgerEntry } from "../ledger.ts";
import { LedgerRoom } from "./ledger-space.ts";
import { userName } from "../../base/processes/live-process.ts";
import type { Clock } from "../../base/clock.ts";

export interface DiskLedgerOptions {
  /** Called once when entries cannot be written, until one can be again; and once when decisions or runs are removed. */
  readonly log: Log;
  /** Whoever runs this process: the caller of entries that name none. */
  readonly user?: string;
  /** A new file is started at this size. Default 1 MiB. */
  readonly maxFileBytes?: number;
  /** Decisions and runs, each: of more the oldest are removed. Default 64 MiB. */
  readonly maxBytes?: number;
  /** Decisions and runs are retained for at least this time. Default 90 days, in milliseconds. */
  readonly maxAgeMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Gets each line, too: a file that is opened for each, so that others can move it away; `-` for the log; or a function. */
  readonly audit?: string | ((line: string) => void) | undefined;
}

/** The parts that fill up apart from each other, with the place of their files below the ledger's directory. */
export const roomDirectories = { decisions: "decisions", runs: "runs", uses: "." } as const;

export type RoomName = keyof typeof roomDirectories;

/** Tools that run code. */
const running: ReadonlySet<string> = new Set(["execute_skill", "run_code", "replay"]);

/** What somebody decided or changed; what ran; what was only read or refused, of which anybody can cause any number. */
function roomOf({ event, tool, outcome }: LedgerEntry): RoomName {
  if (event === "start" || event === "send") return "runs";
  if (event === "refusal") return "uses";
  if (event !== undefined) return "decisions";
  return running.has(tool) && outcome !== "refused" ? "runs" : "uses";
}

const dayMs = 24 * 60 * 60 * 1_000;

/**
 * A ledger in a directory shared by any number of processes; see {@link LedgerRoom}. What is retained of reads and refusals is at most twice
 * `maxFileBytes`. The directory is created with the first entry; reading changes nothing.
 */
export function diskLedger(directory: string, options: DiskLedgerOptions): Ledger {
  const { log, user, maxFileBytes = 1024 * 1024, maxBytes = 64 * 1024 * 1024, maxAgeMs = 90 * dayMs } = options;
  const { now = Date.now, audit } = options;
  let [isTold, isDropTold, isOpen] = [false, false, true];
  const writeAudit = openAudit(audit, log);
  const toRoom = (name: RoomName): LedgerRoom =>
    new LedgerRoom(path.join(directory, roomDirectories[name]), {
      maxFileBytes,
      maxBytes: name === "uses" ? 2 * maxFileBytes : maxBytes,
      maxAgeMs,
      now,
      dropped: (about) => {
        // Of reads and refusals it happens all the time, and the rows themselves say it.
        if (name === "uses" || isDropTold) return;
        log("warning", `Old rows of the ledger are removed: ${name}, ${about}.`);
        isDropTold = true;
      },
    });
  const rooms = { decisions: toRoom("decisions"), runs: toRoom("runs"), uses: toRoom("uses") };

  return {
    record(entry) {
      if (!isOpen) return "it was closed";
      try {
        const room = roomOf(entry);
        writeAudit(entry, rooms[room].record({ ...(user !== undefined && { caller: user }), ...entry }));
        isTold = false;
        return undefined;
      } catch (error) {
        if (!isTold) log("warning", `Uses of skills cannot be recorded in ${directory}: ${String(error)}`);
        isTold = true;
        return systemCode(error) || "see the log";
      }
    },
    read: () => byTime(Object.values(rooms).map((room) => room.read())),
    close() {
      isOpen = false;
      for (const room of Object.values(rooms)) room.close();
    },
  };
}

/** Writes each line of a ledger to `audit`, too, with the part that its entry belongs to; see `DiskLedgerOptions`. Never throws. */
export function openAudit(audit: DiskLedgerOptions["audit"], log: Log): (entry: LedgerEntry, line: string) => void {
  let isTold = false;
  return (entry, line) => {
    if (audit === undefined) return;
    const text = `{"room":"${roomOf(entry)}",${line.slice(1)}\n`;
    try {
      if (typeof audit === "string" && audit !== "-") appendTo(audit, text);
      else if (audit === "-") log("info", `ledger: ${text.trimEnd()}`);
      else audit(text.trimEnd());
      isTold = false;
    } catch (error) {
      if (!isTold) log("error", `The audit cannot be written: ${String(error)}`);
      isTold = true;
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

/** Merges lists, each of which stays in its own order. */
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

/** For how many days rows are retained at least, as this user wants it. */
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
/** How many of the names that were asked for a row has. */
const maxNames = 3;
/** Where there are more windows, the oldest is written at once. */
const maxWindows = 1_000;

interface Window {
  count: number;
  last: LedgerEntry;
  /** Names that were asked for, the first few. */
  readonly asked: Set<string>;
  readonly stop: () => void;
}

/**
 * A ledger in which the refusals of one caller for one reason are two rows a minute: the first one, and one that counts the others and has
 * the facts of the last. Nobody fills the ledger with what is refused.
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
