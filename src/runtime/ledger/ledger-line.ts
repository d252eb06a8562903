import path from "node:path";
import { createHash } from "node:crypto";
import { constants, lstatSync } from "node:fs";
import { open } from "node:fs/promises";
import { isObject, parseIfJson } from "../../base/json/json-value.ts";
import type { LedgerEntry } from "../ledger.ts";
import { SkillsError } from "../../base/errors.ts";
import { systemCode } from "../../base/failures/system-error.ts";
import { namesIn } from "../../base/paths/directories.ts";

export const outcomes = ["started", "completed", "failed", "refused", "asked", "allowed", "denied"] as const;

/** Maximum length of a text. A longer text is recorded as its start, end, length and digest, so that a line is bounded. */
const maxTextLength = 256;
const [startLength, endLength] = [128, 64];

function boundedText(text: string): string {
  if (text.length <= maxTextLength) return text;
  const digest = createHash("sha256").update(text).digest("hex");
  return `${text.slice(0, startLength)} … ${text.slice(-endLength)} (${text.length} characters, sha256:${digest})`;
}

type TextField = Exclude<keyof LedgerEntry, "at" | "count">;

const textFields =
  "event tool caller project skill asked version digest runId isolation outcome code about answer grant sessionId subagent door".split(
    " ",
  ) as readonly TextField[];

/** The fields that hold text, and their names on disk: `runId` is `run_id`. */
const textKeys = textFields.map(
  (field) => [field, field.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`)] as const,
);

/** An entry as a line of JSON of bounded length, without line end. `end`: the chain end before it. Throws for an invalid time. */
export function toLedgerLine(entry: LedgerEntry, end?: ChainEnd): string {
  const texts = textKeys.map(([field, key]) => {
    const text = entry[field];
    return [key, text === undefined ? undefined : boundedText(text)];
  });
  const { count } = entry;
  return JSON.stringify({
    at: new Date(entry.at).toISOString(),
    ...Object.fromEntries(texts),
    count,
    after: end?.rows,
    chain: end?.digest,
  });
}

interface LedgerLine {
  readonly entry?: LedgerEntry;
  /** The end of the chain before this row. Absent in lines of earlier versions. */
  readonly before?: ChainEnd;
}

/** Parses a line; empty for one that is torn, damaged, or of another program. */
export function fromLedgerLine(line: string): LedgerLine {
  const json = parseIfJson(line); // A line may be torn.
  const values: Partial<Record<string, unknown>> = isObject(json) ? json : {};
  const { after, chain, count } = values;
  const before =
    typeof after === "number" && typeof chain === "string" ? { before: { rows: after, digest: chain } } : {};
  const at = typeof values["at"] === "string" ? Date.parse(values["at"]) : Number.NaN;
  const texts: { [Field in TextField]?: string } = {};
  for (const [field, key] of textKeys) {
    const value = values[key];
    if (typeof value === "string") texts[field] = value;
  }
  const { tool, door, outcome, ...rest } = texts;
  if (Number.isNaN(at) || tool === undefined || door === undefined) return before;
  const known = outcomes.find((one) => one === outcome);
  const counted = typeof count === "number" ? { count } : {};
  return { entry: { at, tool, ...rest, ...counted, ...(known !== undefined && { outcome: known }), door }, ...before };
}

/** The number of rows, and a digest of all of them in their order. */
export interface ChainEnd {
  readonly rows: number;
  /** SHA-256 in hexadecimal. */
  readonly digest: string;
}

export const chainStart: ChainEnd = { rows: 0, digest: "0".repeat(64) };

/** The chain end after one more row. `line`: the bytes of the row, without the line end. */
export function chained({ rows, digest }: ChainEnd, line: Uint8Array): ChainEnd {
  return { rows: rows + 1, digest: createHash("sha256").update(`${digest}\n`).update(line).digest("hex") };
}

/** The whole lines of `bytes`, without their line ends. An incomplete last line is skipped. */
export function* wholeLines(bytes: Uint8Array): Generator<Uint8Array, void> {
  for (let start = 0; ;) {
    const end = bytes.indexOf(0x0a, start);
    if (end < 0) return;
    yield bytes.subarray(start, end);
    start = end + 1;
  }
}

/** Windows has no O_NOFOLLOW and no O_NONBLOCK. Without O_NONBLOCK, opening a pipe instead of a file would never end. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>;
export const guardedOpen = O_NOFOLLOW | O_NONBLOCK;

export function fileOf(directory: string, number: number): string {
  return path.join(directory, `${String(number).padStart(6, "0")}.jsonl`);
}

export interface LedgerFile {
  readonly number: number;
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly changedAt: number;
}

/** A million numbers before the last one that a name may have. Files from this number on are ignored. */
const firstForeignNumber = 999_000_000;

/**
 * The files of a section of the ledger, in ascending order, and the number of the next one; none if the directory does not exist. Their
 * numbers have no gap. Of several such sequences, the one with most bytes is the ledger, so that nobody can start another one by creating a
 * file. A path that is no regular file takes a number and is skipped.
 */
export function filesIn(directory: string): { readonly files: readonly LedgerFile[]; readonly next: number } {
  let largest = { files: [] as readonly LedgerFile[], next: 1, bytes: -1 };
  let row: LedgerFile[] = [];
  const numbers = numbersIn(directory);
  for (const [index, number] of numbers.entries()) {
    if (numbers[index - 1] !== number - 1) row = [];
    const found = lstatSync(fileOf(directory, number), { throwIfNoEntry: false });
    if (found?.isFile() === true) row.push({ number, size: found.size, changedAt: found.mtimeMs });
    if (numbers[index + 1] === number + 1) continue;
    const bytes = row.reduce((sum, { size }) => sum + size, 0);
    if (bytes > largest.bytes) largest = { files: row, next: number + 1, bytes };
  }
  return largest;
}

/** The numbers in names of files, in ascending order. */
export function numbersIn(directory: string): readonly number[] {
  return namesIn(directory)
    .flatMap((name) => (/^(?!0{6})\d{6,9}\.jsonl$/.test(name) ? [Number.parseInt(name, 10)] : []))
    .filter((number) => number < firstForeignNumber)
    .sort((a, b) => a - b);
}

/** The end of a file, of at most this many bytes; empty if the file does not exist. Throws UNREADABLE. */
export async function readIfThere(directory: string, number: number, maxBytes: number): Promise<Buffer> {
  try {
    const file = await open(fileOf(directory, number), constants.O_RDONLY | guardedOpen);
    try {
      const { size } = await file.stat();
      const bytes = Buffer.alloc(Math.min(size, maxBytes));
      const { bytesRead } = await file.read(bytes, 0, bytes.length, size - bytes.length);
      return bytes.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    // Another process started a new file meanwhile and deleted the oldest.
    if (systemCode(error) === "ENOENT") return Buffer.alloc(0);
    throw unreadable(directory, error);
  }
}

export function unreadable(directory: string, cause: unknown): SkillsError {
  const message = `The ledger in ${directory} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`;
  return new SkillsError("UNREADABLE", message, { cause, facts: { path: directory } });
}

type WhoAndWhere = Partial<Record<"callerName" | "project", string | undefined>>;

/** The fields of an entry for its caller and its project. */
export function whoAndWhere({ callerName: caller, project }: WhoAndWhere): Pick<LedgerEntry, "caller" | "project"> {
  return { ...(caller !== undefined && { caller }), ...(project !== undefined && { project }) };
}
