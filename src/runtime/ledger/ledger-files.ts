import { constants, lstatSync } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { SkillsError } from "../../base/errors.ts";
import { systemCode } from "../../base/failures/system-code.ts";
import { namesIn } from "../../base/paths/names-in.ts";

/** Windows has no O_NOFOLLOW and no O_NONBLOCK. A pipe in the place of a file would never be opened otherwise. */
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

/** A million numbers before the last one that a name may have. */
const firstForeignNumber = 999_000_000;

/**
 * The files of a room of the ledger, in ascending order, and the number of the next one; none if the directory does not exist. Numbers
 * follow each other without a gap. Of several such rows that with most bytes is the ledger, so that nobody starts another one by creating
 * a file; what is no regular file takes a number and is skipped.
 */
export function filesIn(directory: string): { readonly files: readonly LedgerFile[]; readonly next: number } {
  let most = { files: [] as readonly LedgerFile[], next: 1, bytes: -1 };
  let row: LedgerFile[] = [];
  const numbers = numbersIn(directory);
  for (const [index, number] of numbers.entries()) {
    if (numbers[index - 1] !== number - 1) row = [];
    const found = lstatSync(fileOf(directory, number), { throwIfNoEntry: false });
    if (found?.isFile() === true) row.push({ number, size: found.size, changedAt: found.mtimeMs });
    if (numbers[index + 1] === number + 1) continue;
    const bytes = row.reduce((sum, { size }) => sum + size, 0);
    if (bytes > most.bytes) most = { files: row, next: number + 1, bytes };
  }
  return most;
}

/** The numbers in names of files, in ascending order. */
export function numbersIn(directory: string): readonly number[] {
  return namesIn(directory)
    .flatMap((name) => (/^(?!0{6})\d{6,9}\.jsonl$/.test(name) ? [Number.parseInt(name, 10)] : []))
    .filter((number) => number < firstForeignNumber)
    .sort((a, b) => a - b);
}

/** The end of a file, of at most this many bytes; empty if it is not there. Throws UNREADABLE. */
export async function readIfThere(directory: string, number: number, most: number): Promise<Buffer> {
  try {
    const file = await open(fileOf(directory, number), constants.O_RDONLY | guardedOpen);
    try {
      const { size } = await file.stat();
      const bytes = Buffer.alloc(Math.min(size, most));
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
