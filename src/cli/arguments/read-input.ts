import { readFileSync } from "node:fs";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { usageError } from "../command.ts";

/**
 * JSON given to a command: the text itself, `@FILE` for a file that contains it, or `-` for stdin; an empty object if absent. Throws
 * INVALID_OPTIONS if it is not JSON or cannot be read.
 */
export async function readInput(input: string | undefined, name: string, cwd: () => string): Promise<unknown> {
  if (input === undefined) return {};
  const where = input === "-" ? "stdin" : input.startsWith("@") ? input.slice(1) : name;
  try {
    return JSON.parse(await readText(input, cwd)) as unknown;
  } catch (error) {
    if (error instanceof TypeError) throw usageError(`${where} is not UTF-8`);
    const why = error instanceof SyntaxError ? "is not JSON" : "cannot be read";
    throw usageError(`${where} ${why}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function readText(input: string, cwd: () => string): Promise<string> {
  if (input !== "-" && !input.startsWith("@")) return input;
  const bytes = input === "-" ? await buffer(process.stdin) : readFileSync(path.resolve(cwd(), input.slice(1)));
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}
