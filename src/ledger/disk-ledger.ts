import { closeSync, constants, fstatSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { isObject, parseIfJson } from "../base/json-file/json-value.ts";
import { systemCode } from "../base/failures/system-code.ts";
import { namesIn } from "../base/paths/names-in.ts";
import { SkillsError } from "../errors.ts";
import type { Log } from "../base/log.ts";
import { makeOwnDirectories } from "../base/paths/make-directories.ts";
import { outcomes } from "./ledger.ts";
import type { Ledger, LedgerEntry } from "./ledger.ts";

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
/** Windows has no O_NOFOLLOW. */
const { O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;
const appendFlags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | O_NOFOLLOW;

/**
 * A ledger in a directory shared by any number of processes: JSON Lines in `<number>.jsonl`, each line appended with one write. When the
 * last file is full the next one is started, and all but the two last are deleted. Files are never renamed, so that no process removes one
 * that another just started. The directory is created with the first entry; reading changes nothing.
 */
export function diskLedger(directory: string, options: DiskLedgerOptions): Ledger {
  const { log, maxFileBytes = defaultMaxFileBytes } = options;
  let current: OpenFile | undefined;
  let isTorn = false;
  let isTold = false;
  let isOpen = true;
  function openLast(): OpenFile {
    makeOwnDirectories(directory, 0o700);
    const numbers = fileNumbers(directory);
    const highest = numbers.at(-1) ?? 1;
    let file = openFile(highest);
    if (fstatSync(file.descriptor).size >= maxFileBytes) {
      closeSync(file.descriptor);
      file = openFile(highest + 1);
    }
    for (const old of numbers) {
      // Always, not only after starting a file: a slow process may recreate a file that was deleted.
      if (old < file.number - 1) rmSync(fileOf(directory, old), { force: true });
    }
    // Another process may have started a new file meanwhile; an older one would be deleted.
    if (fileNumbers(directory).at(-1) === file.number) return file;
    closeSync(file.descriptor);
    return openLast();
  }

  function openFile(number: number): OpenFile {
    const file = { number, descriptor: openSync(fileOf(directory, number), appendFlags, 0o600) };
    isTorn = endsInsideLine(file.descriptor);
    return file;
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
      if (!isOpen) return;
      try {
        append(toLedgerLine(entry));
        isTold = false;
      } catch (error) {
        if (!isTold) log("warning", `Uses of skills cannot be recorded in ${directory}: ${String(error)}`);
        isTold = true;
      }
    },
    async *read() {
      for (const number of readableNumbers(directory)) {
        for (const line of (await readIfThere(directory, number)).split("\n")) {
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

/** In ascending order; empty if the directory does not exist. */
function fileNumbers(directory: string): number[] {
  return namesIn(directory)
    .flatMap((name) => (/^(?!0{6})\d{6,15}\.jsonl$/.test(name) ? [Number.parseInt(name, 10)] : []))
    .sort((a, b) => a - b);
}

function readableNumbers(directory: string): number[] {
  try {
    return fileNumbers(directory);
  } catch (error) {
    throw unreadable(directory, error);
  }
}

function endsInsideLine(descriptor: number): boolean {
  const { size } = fstatSync(descriptor);
  const last = new Uint8Array(1);
  return size > 0 && readSync(descriptor, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a;
}

async function readIfThere(directory: string, number: number): Promise<string> {
  try {
    return await readFile(fileOf(directory, number), "utf8");
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

/** Texts from outside, such as session ids, are cut to this length, so that a line is bounded. */
const maxTextLength = 256;

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
  const texts = textFields.map((field) => [textKeys[field], entry[field]?.slice(0, maxTextLength)]);
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
