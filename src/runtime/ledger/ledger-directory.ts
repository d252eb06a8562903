import { closeSync, constants, fstatSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import path from "node:path";
import { systemCode } from "../../base/failures/system-error.ts";
import { makeOwnDirectories } from "../../base/paths/directories.ts";
import type { LedgerEntry } from "../ledger.ts";
import {
  type ChainEnd,
  type LedgerFile,
  chainStart,
  chained,
  fileOf,
  filesIn,
  fromLedgerLine,
  guardedOpen,
  readIfThere,
  toLedgerLine,
  unreadable,
  wholeLines,
} from "./ledger-line.ts";

export interface LedgerDirectoryOptions {
  /** A new file is started at this size. */
  readonly maxFileBytes: number;
  /** Beyond this size, the oldest files are removed. */
  readonly maxBytes: number;
  /** Files that were last written longer ago are removed when a new file is started. Milliseconds. */
  readonly maxAgeMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Called with a description of the removed rows. */
  readonly dropped: (about: string) => void;
}

interface OpenFile {
  readonly number: number;
  readonly descriptor: number;
  /** The end of the chain at `offset`. */
  end: ChainEnd;
  offset: number;
  /** Whether its last row seals it: later rows are not part of the ledger. */
  isSealed: boolean;
}

const appendFlags = constants.O_RDWR | constants.O_APPEND | guardedOpen;
const newFlags = appendFlags | constants.O_CREAT | constants.O_EXCL;
/** How often the last file is searched for again while other processes start new ones. */
const maxAttempts = 20;
const seal = { event: "sealed", tool: "ledger", door: "ledger" } as const;

/**
 * Rows in a directory that any number of processes append to: JSON Lines in `<number>.jsonl`. Each row is appended with one write, and read
 * back if others wrote meanwhile. It has the number of rows before it and the digest of their chain. So no row can be changed, removed or
 * moved without a trace. Rows written at the same moment are protected by the rows after them. A full file ends with a row that seals it. A
 * process that appended after the seal appends again, to the next file. Before rows are removed, a row names them. `newest.json` has the
 * end of the chain, as far as the process that wrote last knew it.
 */
export class LedgerDirectory {
  readonly #directory: string;
  readonly #options: LedgerDirectoryOptions;
  #current: OpenFile | undefined;

  constructor(directory: string, options: LedgerDirectoryOptions) {
    this.#directory = directory;
    this.#options = options;
  }

  /** Records an entry and returns its line. Throws if it cannot be written. */
  record(entry: LedgerEntry): string {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const file = (this.#current ??= this.#openLast());
      if (this.#isUsable(file)) {
        const line = this.#append(file, entry);
        if (line !== undefined) {
          this.#keepEnd(file.end);
          return line;
        }
      }
      this.close();
    }
    throw new Error("other processes change its files all the time");
  }

  async *read(): AsyncGenerator<LedgerEntry, void> {
    for (const { number } of this.#readableFiles()) {
      for (const line of wholeLines(await readIfThere(this.#directory, number, 2 * this.#options.maxFileBytes))) {
        const { entry } = fromLedgerLine(Buffer.from(line).toString());
        if (entry?.event === seal.event) break;
        if (entry !== undefined) yield entry;
      }
    }
  }

  close(): void {
    if (this.#current !== undefined) closeSync(this.#current.descriptor);
    this.#current = undefined;
  }

  #readableFiles(): readonly LedgerFile[] {
    try {
      return filesIn(this.#directory).files;
    } catch (error) {
      throw unreadable(this.#directory, error);
    }
  }

  /** Whether a file can be appended to: not if it was deleted or is full. Seals a full file. */
  #isUsable(file: OpenFile): boolean {
    const { size, nlink } = fstatSync(file.descriptor);
    if (nlink === 0) return false;
    readOn(file, size);
    if (!file.isSealed && size >= this.#options.maxFileBytes) this.#append(file, { at: this.#options.now(), ...seal });
    return !file.isSealed;
  }

  /** Appends an entry and returns its line; undefined if the file was sealed meanwhile. */
  #append(file: OpenFile, entry: LedgerEntry): string | undefined {
    const { descriptor, end, offset } = file;
    const line = toLedgerLine(entry, end);
    // Starts on a new line after an incomplete one, as after a full disk.
    const isTorn = fstatSync(descriptor).size > offset;
    const bytes = Buffer.from(isTorn ? `\n${line}\n` : `${line}\n`);
    if (writeSync(descriptor, bytes) < bytes.length) throw new Error("only a part of the line was written");
    const { size } = fstatSync(descriptor);
    return readOn(file, size, bytes.subarray(isTorn ? 1 : 0, -1)) ? line : undefined;
  }

  #openLast(): OpenFile {
    makeOwnDirectories(this.#directory, 0o700);
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const { files, next } = filesIn(this.#directory);
      const last = files.at(-1);
      const opened = last === undefined ? undefined : this.#open(last, files.at(-2));
      if (last !== undefined && opened === undefined) continue;
      if (opened?.isSealed === false) return opened;
      if (opened !== undefined) closeSync(opened.descriptor);
      const started = this.#start(next, opened?.end ?? chainStart);
      if (started === undefined) continue;
      // Another process may have been faster, or the new file closes a gap.
      if (filesIn(this.#directory).files.at(-1)?.number === next) {
        this.#current = started;
        this.#drop(started, files);
        return started;
      }
      closeSync(started.descriptor);
    }
    throw new Error("other processes change its files all the time");
  }

  /** Opens a file; undefined if another process has deleted it. */
  #open({ number, size }: LedgerFile, previous: LedgerFile | undefined): OpenFile | undefined {
    let start = chainStart;
    if (size === 0 && previous !== undefined) {
      const before = this.#open(previous, undefined);
      if (before === undefined) return undefined;
      if (!before.isSealed) this.#append(before, { at: this.#options.now(), ...seal });
      closeSync(before.descriptor);
      start = before.end;
    }
    const descriptor = openIf("ENOENT", fileOf(this.#directory, number), appendFlags);
    if (descriptor === undefined) return undefined;
    const file = { number, descriptor, end: start, offset: 0, isSealed: false };
    readOn(file, fstatSync(descriptor).size);
    return file;
  }

  /** Creates a file; undefined if another process has created it. */
  #start(number: number, end: ChainEnd): OpenFile | undefined {
    const descriptor = openIf("EEXIST", fileOf(this.#directory, number), newFlags);
    return descriptor === undefined ? undefined : { number, descriptor, end, offset: 0, isSealed: false };
  }

  /** Removes the oldest files that exceed the age or the size, after a row of the new file says so. `files`: the full ones. */
  #drop(started: OpenFile, files: readonly LedgerFile[]): void {
    const { maxBytes, maxFileBytes, maxAgeMs, now, dropped } = this.#options;
    const remaining = [...files];
    const size = (): number => remaining.reduce((sum, one) => sum + one.size, maxFileBytes);
    const isOver = ({ changedAt }: LedgerFile): boolean =>
      changedAt < now() - maxAgeMs || (remaining.length > 1 && size() - maxFileBytes / 2 > maxBytes);
    while (remaining[0] !== undefined && isOver(remaining[0])) remaining.shift();
    const gone = files.slice(0, files.length - remaining.length);
    const newest = gone.at(-1);
    if (newest === undefined) return;
    const rows = remaining[0] === undefined ? started.end.rows : this.#rowsBefore(remaining[0].number);
    const about = `rows up to ${rows}, written until ${new Date(newest.changedAt).toISOString()}`;
    this.#append(started, { at: now(), event: "dropped", tool: "ledger", about, count: rows, door: "ledger" });
    for (const { number } of gone) rmSync(fileOf(this.#directory, number), { force: true });
    dropped(about);
  }

  /** How many rows there are before a file, according to its first row. */
  #rowsBefore(number: number): number {
    const descriptor = openIf("ENOENT", fileOf(this.#directory, number), constants.O_RDONLY | guardedOpen);
    if (descriptor === undefined) return 0;
    try {
      const bytes = Buffer.alloc(64 * 1024);
      const [first] = wholeLines(bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, 0)));
      return first === undefined ? 0 : (fromLedgerLine(Buffer.from(first).toString()).before?.rows ?? 0);
    } finally {
      closeSync(descriptor);
    }
  }

  #keepEnd(end: ChainEnd): void {
    try {
      const flags = constants.O_WRONLY | constants.O_CREAT | guardedOpen;
      const descriptor = openSync(path.join(this.#directory, newestName), flags, 0o600);
      try {
        // Always of the same length, so that nothing of an earlier text is left.
        writeSync(descriptor, `${JSON.stringify(end).padEnd(112)}\n`, 0);
      } finally {
        closeSync(descriptor);
      }
    } catch {
      // The rows are written; `ledger verify` reports which are newer.
    }
  }
}

export const newestName = "newest.json";

function openIf(fault: "ENOENT" | "EEXIST", file: string, flags: number): number | undefined {
  try {
    return openSync(file, flags, 0o600);
  } catch (error) {
    if (systemCode(error) === fault) return undefined;
    throw error;
  }
}

/** Reads rows up to `size` into the chain. Returns whether `own` is among them, before the file was sealed. */
function readOn(file: OpenFile, size: number, own?: Uint8Array): boolean {
  if (file.isSealed || size <= file.offset) return false;
  if (own !== undefined && size === file.offset + own.length + 1) {
    take(file, own);
    return true;
  }
  const bytes = Buffer.alloc(size - file.offset);
  const read = readSync(file.descriptor, bytes, 0, bytes.length, file.offset);
  let isIn = false;
  for (const line of wholeLines(bytes.subarray(0, read))) {
    const isSeal = take(file, line);
    isIn ||= own !== undefined && Buffer.compare(line, own) === 0;
    if (isSeal) break;
  }
  return isIn;
}

/** Adds a line to the chain. Returns whether it seals the file. */
function take(file: OpenFile, line: Uint8Array): boolean {
  const text = Buffer.from(line.buffer, line.byteOffset, line.byteLength);
  const mayDecide = file.offset === 0 || text.includes(`"${seal.event}"`);
  const { entry, before } = mayDecide ? fromLedgerLine(text.toString()) : {};
  // The rows before a file are those that its first row names.
  file.end = chained((file.offset === 0 ? before : undefined) ?? file.end, line);
  file.offset += line.length + 1;
  file.isSealed = entry?.event === seal.event;
  return file.isSealed;
}
