import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, rmSync, writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { SkillsError } from "../errors.ts";
import type { Log } from "../base/log.ts";
import { makeOwnDirectories } from "../base/make-directories.ts";
import { fromLedgerLine, toLedgerLine } from "./ledger-line.ts";
import type { Ledger } from "./ledger.ts";

export interface DiskLedgerOptions {
  /** Told when an entry cannot be kept, once until one can be again. */
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
 * renamed, so that no process can take away what another has just begun. The directory is made with the first entry, and again when
 * it has vanished; looking changes nothing.
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
        isTold = false;
      } catch (error) {
        if (!isTold) log("warning", `The use of skills cannot be recorded in ${directory}: ${String(error)}`);
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

/** In ascending order; none where there is no directory. */
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

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
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
    // Another process began a new file meanwhile, and took the oldest away.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw unreadable(directory, error);
  }
}

function unreadable(directory: string, cause: unknown): SkillsError {
  const message = `The ledger in ${directory} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`;
  return new SkillsError("UNREADABLE", message, { cause, facts: { path: directory } });
}
