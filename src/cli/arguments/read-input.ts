import { readFileSync } from "node:fs";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import type { UsageFault } from "./parse-arguments.ts";

/** JSON as it is given to a command: itself, `@FILE` for a file that holds it, or `-` for stdin. Without any: an empty object. */
export async function readInput(
  input: string | undefined,
  name: string,
  cwd: () => string,
): Promise<{ readonly value: unknown } | UsageFault> {
  if (input === undefined) return { value: {} };
  const where = input === "-" ? "stdin" : input.startsWith("@") ? input.slice(1) : name;
  try {
    return { value: JSON.parse(await readText(input, cwd)) as unknown };
  } catch (error) {
    if (error instanceof TypeError) return { usageFault: `${where} is not UTF-8` };
    const why = error instanceof SyntaxError ? "is not JSON" : "cannot be read";
    return { usageFault: `${where} ${why}: ${error instanceof Error ? error.message : String(error)}` };
  }
}

async function readText(input: string, cwd: () => string): Promise<string> {
  if (input !== "-" && !input.startsWith("@")) return input;
  const bytes = input === "-" ? await buffer(process.stdin) : readFileSync(path.resolve(cwd(), input.slice(1)));
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}
