import { accessSync, constants, readFileSync, statSync } from "node:fs";
import path from "node:path";
import type { Readable } from "node:stream";
import { currentDirectory } from "../report/terminal.ts";
import { systemCode } from "../../base/failures/system-error.ts";
import { usageError } from "../command.ts";

/** Resolves a path against the current directory. Throws UNREADABLE only for relative paths. */
export function toAbsolute(file: string): string {
  return path.isAbsolute(file) ? file : path.resolve(currentDirectory(), file);
}

/** Why a directory that an option names by an absolute path cannot be read; empty if it can. */
export function directoryFault(option: string, directory: string): string[] {
  try {
    if (!statSync(directory).isDirectory()) return [`${option} ${directory}: not a directory`];
    accessSync(directory, constants.R_OK | constants.X_OK);
    return [];
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return [`${option} ${directory}: no such directory`];
    return [`${option} ${directory}: cannot be read (${code || String(error)})`];
  }
}

/** The directory that an option names, absolute; without the option, the current one. Throws INVALID_OPTIONS if it cannot be read. */
export function existingDirectory(option: string, given?: string): string {
  const directory = toAbsolute(given ?? ".");
  const [fault] = given === undefined ? [] : directoryFault(option, directory);
  if (fault !== undefined) throw usageError(fault);
  return directory;
}

/**
 * Reads the JSON input of a command: the text itself, `@FILE` for a file that contains it, or `-` for stdin. An absent input is an empty
 * object. Throws INVALID_OPTIONS if the input is not JSON or cannot be read.
 */
export async function readInput(input: string | undefined, name: string, stdin: Readable): Promise<unknown> {
  if (input === undefined) return {};
  const where = input === "-" ? "stdin" : input.startsWith("@") ? input.slice(1) : name;
  try {
    return JSON.parse(await readText(input, stdin)) as unknown;
  } catch (error) {
    if (error instanceof TypeError) throw usageError(`${where} is not UTF-8`);
    throw usageError(`${where} ${error instanceof SyntaxError ? "is not JSON" : "cannot be read"}: ${reasonOf(error)}`);
  }
}

async function readText(input: string, stdin: Readable): Promise<string> {
  if (input !== "-" && !input.startsWith("@")) return input;
  const bytes = input === "-" ? Buffer.concat(await stdin.toArray()) : readFileSync(toAbsolute(input.slice(1)));
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

/** The message of an error. A system error loses its call and path, which the sentence around it names. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/, \w+ '.*'$/, "") : String(error);
}

/** The range of `--port`; 0 is any free port. */
export const ports = [0, 65_535] as const;

/** Parses a whole number from `min` to `max`. Throws INVALID_OPTIONS for anything else. */
export function parseNumber(option: string, text: string, [min, max]: readonly [number, number]): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (number >= min && number <= max) return number;
  throw usageError(`${option} needs a number from ${min} to ${max}, not ${text}`);
}

/** The text of a file that the user names. Throws INVALID_OPTIONS if it cannot be read, or is longer than `maxBytes` bytes. */
export function readNamedFile(file: string, maxBytes: number): string {
  try {
    const stats = statSync(toAbsolute(file));
    if (!stats.isFile()) throw usageError(`${file} is not a regular file`);
    if (stats.size > maxBytes) throw usageError(`${file} is larger than ${maxBytes / 1024 / 1024} MiB`);
    return readFileSync(toAbsolute(file), "utf8");
  } catch (error) {
    if (systemCode(error) === "") throw error;
    throw usageError(`${file} cannot be read: ${reasonOf(error)}`);
  }
}

/** `a, b or c`. */
export function oneOf(choices: readonly string[]): string {
  return [choices.slice(0, -1).join(", "), ...choices.slice(-1)].filter((part) => part !== "").join(" or ");
}

/** The policy file that the environment names. */
export function givenPolicy(): string | undefined {
  const given = process.env.ACP_SKILLS_POLICY || undefined;
  return given === undefined ? undefined : path.resolve(given);
}

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};
const dateForm = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/;

/** The time, in milliseconds since 1970, of a duration after `now`, or of a date. Throws INVALID_OPTIONS also for a time in the past. */
export function parseUntil(option: string, text: string, now: number): number {
  const then = /^\d+[smhdw]$/.test(text) ? 2 * now - parseSince(option, text, now) : parseSince(option, text, now);
  if (then > now) return then;
  throw usageError(`${option} ${text} is in the past`);
}

/**
 * The time, in milliseconds since 1970, of a duration such as `2h` before `now`, or of a date such as `2026-11-22`. A date without an
 * offset is in UTC, like printed times. Throws INVALID_OPTIONS for anything else, such as 30 February.
 */
export function parseSince(option: string, text: string, now: number): number {
  const [, number, unit = ""] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  if (number !== undefined) return now - Number(number) * (unitMs[unit] ?? 0);
  const [, day = "", time = "", offset] = dateForm.exec(text) ?? [];
  const at = Date.parse(time !== "" && offset === undefined ? `${text}Z` : text);
  // Date.parse takes 30 February for 2 March.
  const isReal = day !== "" && !Number.isNaN(at) && new Date(Date.parse(day)).toISOString().startsWith(day);
  if (isReal) return at;
  throw usageError(`${option} needs a duration such as 90m or 7d, or a date such as 2026-11-22[T10:00Z], not ${text}`);
}

/** Splits a command line into words; blanks inside quotes do not split. Nothing else is special, because no shell is involved. */
export function toWords(line: string): readonly string[] {
  const words = line.match(/(?:"[^"]*"|'[^']*'|[^\s"']|["'])+/g) ?? [];
  return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, "$1$2"));
}
