import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { isObject, parseIfJson } from "../../base/json/json-value.ts";
import { systemCode } from "../../base/failures/system-code.ts";
import { namesIn } from "../../base/paths/names-in.ts";
import { SkillsError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { makeOwnDirectories } from "../../base/paths/make-directories.ts";
import type { Ledger, LedgerEntry } from "../ledger.ts";

export interface DiskLedgerOptions {
  /** Called once when entries cannot be written, until one can be again. */
  readonly log: Log;
  /** A new file is started at this size. Default 1 MiB. */
  readonly maxFileBytes?: number;
}

interface OpenFile {
  readonly number: number;
  readonly descriptor: number;
}

const defaultMaxFileBytes = 1024 * 1024;
/** Windows has no O_NOFOLLOW and no O_NONBLOCK. A pipe in the place of a file would never be opened otherwise. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>;
const readFlags = constants.O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
const appendFlags = constants.O_RDWR | constants.O_APPEND | O_NOFOLLOW | O_NONBLOCK;
const newFlags = appendFlags | constants.O_CREAT | constants.O_EXCL;
/** How often the last file is looked for again while other processes start new ones. */
const mostLooks = 20;

/**
 * A ledger in a directory shared by any number of processes: JSON Lines in `<number>.jsonl`, each line appended with one write. When the
 * last file is full the next one is started, and the one before the full one is deleted, no other. Files are never renamed, so that no
 * process removes one that another just started. What else is in the directory changes nothing: see `filesIn`. The directory is created
 * with the first entry; reading changes nothing.
 */
export function diskLedger(directory: string, options: DiskLedgerOptions): Ledger {
  const { log, maxFileBytes = defaultMaxFileBytes } = options;
  let current: OpenFile | undefined;
  let isTorn = false;
  let isTold = false;
  let isOpen = true;
  function openLast(): OpenFile {
    makeOwnDirectories(directory, 0o700);
    for (let look = 0; look < mostLooks; look++) {
      const { files, next } = filesIn(directory);
      const last = files.at(-1);
      const isNew = last === undefined || last.size >= maxFileBytes;
      const file = tryToOpen(isNew ? next : last.number, isNew);
      if (file === undefined) continue;
      // Another process may have started a new file meanwhile; an older one would be deleted.
      const after = filesIn(directory).files;
      if (after.at(-1)?.number === file.number) {
        const [old, full] = after.slice(-3);
        if (after.length > 2 && old !== undefined && full !== undefined && full.size >= maxFileBytes)
          rmSync(fileOf(directory, old.number), { force: true });
        return file;
      }
      // Another process was faster. Our new file goes, unless others have written into it, or it closes a gap.
      const isLate =
        isNew && fstatSync(file.descriptor).size === 0 && !after.some(({ number }) => number === file.number - 1);
      closeSync(file.descriptor);
      if (isLate) rmSync(fileOf(directory, file.number), { force: true });
    }
    throw new Error("other processes change its files all the time");
  }

  /** Undefined if another process has created or deleted it. */
  function tryToOpen(number: number, isNew: boolean): OpenFile | undefined {
    try {
      const file = {
        number,
        descriptor: openSync(fileOf(directory, number), isNew ? newFlags : appendFlags, 0o600),
      };
      isTorn = endsInsideLine(file.descriptor);
      return file;
    } catch (error) {
      if (systemCode(error) === (isNew ? "EEXIST" : "ENOENT")) return undefined;
      throw error;
    }
  }

  /** The file to append to: a new one if the current one is full or was deleted. */
  function fileForLine(): OpenFile {
    if (current !== undefined) {
      const { size, nlink } = fstatSync(current.descriptor);
      if (size < maxFileBytes && nlink > 0) return current;
      closeSync(current.descriptor);
      current = undefined;
    }
    current = openLast();
    return current;
  }

  function append(line: string): void {
    const { descriptor } = fileForLine();
    // Start on a new line after one that is incomplete, as after a full disk.
    const bytes = Buffer.from(isTorn ? `\n${line}` : line);
    isTorn = writeSync(descriptor, bytes) < bytes.length;
    if (isTorn) throw new Error("only a part of the line was written");
  }

  return {
    record(entry) {
      if (!isOpen) return "it was closed";
      try {
        append(toLedgerLine(entry));
        isTold = false;
        return undefined;
      } catch (error) {
        if (!isTold) log("warning", `Uses of skills cannot be recorded in ${directory}: ${String(error)}`);
        isTold = true;
        return systemCode(error) || "see the log";
      }
    },
    async *read() {
      for (const { number } of readableFiles(directory)) {
        for (const line of (await readIfThere(directory, number, 2 * maxFileBytes)).split("\n")) {
          const entry = fromLedgerLine(line);
          if (entry !== undefined) yield entry;
        }
      }
    },
    close() {
      isOpen = false;
      if (current !== undefined) closeSync(current.descriptor);
      current = undefined;
    },
  };
}

function fileOf(directory: string, number: number): string {
  return path.join(directory, `${String(number).padStart(6, "0")}.jsonl`);
}

interface LedgerFile {
  readonly number: number;
  readonly size: number;
}

/** A million numbers before the last one that a name may have. */
const firstForeignNumber = 999_000_000;

/**
 * The files of the ledger, in ascending order, and the number of the next one; none if the directory does not exist. Numbers follow each
 * other without a gap. Of several such rows that with most bytes is the ledger, so that nobody starts another one by creating a file; what
 * is no regular file takes a number and is skipped.
 */
function filesIn(directory: string): { readonly files: readonly LedgerFile[]; readonly next: number } {
  const numbers = namesIn(directory)
    .flatMap((name) => (/^(?!0{6})\d{6,9}\.jsonl$/.test(name) ? [Number.parseInt(name, 10)] : []))
    .filter((number) => number < firstForeignNumber)
    .sort((a, b) => a - b);
  let most = { files: [] as readonly LedgerFile[], next: 1, bytes: -1 };
  let row: LedgerFile[] = [];
  for (const [index, number] of numbers.entries()) {
    if (numbers[index - 1] !== number - 1) row = [];
    const found = lstatSync(fileOf(directory, number), { throwIfNoEntry: false });
    if (found?.isFile() === true) row.push({ number, size: found.size });
    if (numbers[index + 1] === number + 1) continue;
    const bytes = row.reduce((sum, { size }) => sum + size, 0);
    if (bytes > most.bytes) most = { files: row, next: number + 1, bytes };
  }
  return most;
}

function readableFiles(directory: string): readonly LedgerFile[] {
  try {
    return filesIn(directory).files;
  } catch (error) {
    throw unreadable(directory, error);
  }
}

function endsInsideLine(descriptor: number): boolean {
  const { size } = fstatSync(descriptor);
  const last = new Uint8Array(1);
  return size > 0 && readSync(descriptor, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a;
}

/** The end of a file, of at most this many bytes. */
async function readIfThere(directory: string, number: number, most: number): Promise<string> {
  try {
    const file = await open(fileOf(directory, number), readFlags);
    try {
      const { size } = await file.stat();
      const bytes = Buffer.alloc(Math.min(size, most));
      const { bytesRead } = await file.read(bytes, 0, bytes.length, size - bytes.length);
      return bytes.toString("utf8", 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    // Another process started a new file meanwhile and deleted the oldest.
    if (systemCode(error) === "ENOENT") return "";
    throw unreadable(directory, error);
  }
}

function unreadable(directory: string, cause: unknown): SkillsError {
  const message = `The ledger in ${directory} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`;
  return new SkillsError("UNREADABLE", message, { cause, facts: { path: directory } });
}

/** Longer texts from outside, such as questions, are kept as their start, end, length and digest, so that a line is bounded. */
const maxTextLength = 256;
const [startLength, endLength] = [128, 64];

function boundedText(text: string): string {
  if (text.length <= maxTextLength) return text;
  const digest = createHash("sha256").update(text).digest("hex");
  return `${text.slice(0, startLength)} … ${text.slice(-endLength)} (${text.length} characters, sha256:${digest})`;
}

/** The names on disk of the fields that hold text. */
const textKeys = {
  event: "event",
  tool: "tool",
  skill: "skill",
  version: "version",
  digest: "digest",
  runId: "run_id",
  outcome: "outcome",
  code: "code",
  about: "about",
  answer: "answer",
  grant: "grant",
  sessionId: "session_id",
  door: "door",
} as const;

type TextField = keyof typeof textKeys;
const textFields = Object.keys(textKeys) as TextField[];

/** An entry as a line of JSON with its line end, of bounded length. Throws for an invalid time. */
export function toLedgerLine(entry: LedgerEntry): string {
  const texts = textFields.map((field) => {
    const text = entry[field];
    return [textKeys[field], text === undefined ? undefined : boundedText(text)];
  });
  return `${JSON.stringify({ at: new Date(entry.at).toISOString(), ...Object.fromEntries(texts) })}\n`;
}

/** The entry in a line. Undefined for a line that is torn, damaged, or of another program. */
export function fromLedgerLine(line: string): LedgerEntry | undefined {
  const values = parse(line);
  const at = typeof values["at"] === "string" ? Date.parse(values["at"]) : Number.NaN;
  const texts: { [Field in TextField]?: string } = {};
  for (const field of textFields) {
    const value = values[textKeys[field]];
    if (typeof value === "string") texts[field] = value;
  }
  const { tool, door, outcome, ...rest } = texts;
  if (Number.isNaN(at) || tool === undefined || door === undefined) return undefined;
  const known = outcomes.find((one) => one === outcome);
  return { at, tool, ...rest, ...(known !== undefined && { outcome: known }), door };
}

function parse(line: string): Partial<Record<string, unknown>> {
  const value = parseIfJson(line); // A line may be torn.
  return isObject(value) ? value : {};
}

export const outcomes = ["started", "completed", "failed", "refused", "asked", "allowed", "denied"] as const;
