import { readFileSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
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
    const why = error instanceof SyntaxError ? "is not JSON" : "cannot be read";
    return { usageFault: `${where} ${why}: ${error instanceof Error ? error.message : String(error)}` };
  }
}

async function readText(input: string, cwd: () => string): Promise<string> {
  if (input === "-") return await text(process.stdin);
  return input.startsWith("@") ? readFileSync(path.resolve(cwd(), input.slice(1)), "utf8") : input;
}
