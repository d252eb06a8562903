import { currentDirectory } from "../report/terminal.ts";
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import path from "node:path";
import type { Readable } from "node:stream";
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

/**
 * JSON given to a command: the text itself, `@FILE` for a file that contains it, or `-` for stdin; an empty object if absent. Throws
 * INVALID_OPTIONS if it is not JSON or cannot be read.
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

/** The message of an error; that of a system error without the call and the path, which the sentence around it names. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/, \w+ '.*'$/, "") : String(error);
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
