import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, rmSync, writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { SkillsError } from "../errors.ts";
import type { Log } from "../log.ts";
import { makeDirectories } from "../make-directories.ts";
import { fromLedgerLine, toLedgerLine } from "./ledger-line.ts";
import type { Ledger } from "./ledger.ts";

export interface DiskLedgerOptions {
  /** Told once when an entry cannot be kept. */
  readonly log: Log;
  /** A file is full at this size, up to a line of each process that writes. Default 1 MiB. */
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
 * A ledger in a directory that any number of processes may share: JSON Lines in `<number>.jsonl`, each line appended with one
 * write. When the file with the highest number is full the next one is begun, and all but the one before it go. Nothing is ever
 * renamed, so that no process can take away what another has just begun. Throws INVALID_OPTIONS for a directory that cannot serve.
 */
export function diskLedger(directory: string, options: DiskLedgerOptions): Ledger {
  const { log, maxFileBytes = defaultMaxFileBytes } = options;
  let current: OpenFile | undefined;
  let isTorn = false;
  let isTold = false;
  let isOpen = true;
  try {
    makeDirectories(directory, 0o700);
    current = openLast();
  } catch (cause) {
    throw new SkillsError("INVALID_OPTIONS", `The ledger cannot be kept in ${directory}: ${String(cause)}`, {
      cause,
      facts: { path: directory },
    });
  }

  function openLast(): OpenFile {
    const numbers = fileNumbers(directory);
    const highest = numbers.at(-1) ?? 1;
    let file = openFile(highest);
    if (fstatSync(file.descriptor).size >= maxFileBytes) {
      closeSync(file.descriptor);
      file = openFile(highest + 1);
    }
    for (const old of numbers) {
      // Not only when ours is new: who comes late begins again a file that was taken away, and finds it here, left behind.
      if (old < file.number - 1) rmSync(fileOf(directory, old), { force: true });
    }
    // While we looked, others may have gone further; what is written to a file that is left behind does not last.
    if (fileNumbers(directory).at(-1) === file.number) return file;
    closeSync(file.descriptor);
    return openLast();
  }

  function openFile(number: number): OpenFile {
    const file = { number, descriptor: openSync(fileOf(directory, number), appendFlags, 0o600) };
    isTorn = endsInsideLine(file.descriptor);
    return file;
  }

  /** The file to append to: another one when ours is full, or when somebody removed it. */
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
    // After a line that was cut short, by a full disk or a power cut, ours starts afresh.
    const bytes = Buffer.from(isTorn ? `\n${line}` : line);
    isTorn = writeSync(descriptor, bytes) < bytes.length;
    if (isTorn) throw new Error("the disk took a part of a line only");
  }

  return {
    record(entry) {
      if (!isOpen) return;
      try {
        append(toLedgerLine(entry));
      } catch (error) {
        if (!isTold) log("warning", `The use of skills cannot be recorded in ${directory}: ${String(error)}`);
        isTold = true;
      }
    },
    async *read() {
      for (const number of fileNumbers(directory)) {
        for (const line of (await readIfThere(fileOf(directory, number))).split("\n")) {
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

/** In ascending order. */
function fileNumbers(directory: string): number[] {
  return readdirSync(directory)
    .flatMap((name) => (/^(?!0{6})\d{6,15}\.jsonl$/.test(name) ? [Number.parseInt(name, 10)] : []))
    .sort((a, b) => a - b);
}

function endsInsideLine(descriptor: number): boolean {
  const { size } = fstatSync(descriptor);
  const last = new Uint8Array(1);
  return size > 0 && readSync(descriptor, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a;
}

async function readIfThere(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    // Another process began a new file meanwhile, and took the oldest away.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
