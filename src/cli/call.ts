import { readFileSync } from "node:fs";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { newErrorId } from "../error-id.ts";
import type { Log } from "../log.ts";
import { readOptions } from "../options.ts";
import { localOwner, openToolkit } from "../toolkit.ts";
import { toWireError } from "../wire/error-table.ts";
import { jsonText } from "./json-text.ts";
import { openListing } from "./open-listing.ts";
import type { ListingOptions } from "./open-listing.ts";
import { openProcessLog } from "./open-log.ts";
import { isUsageFault } from "./parse-arguments.ts";
import type { UsageFault } from "./parse-arguments.ts";
import type { Terminal } from "./terminal.ts";

/**
 * `acp-skills call TOOL [INPUT]`: the result on stdout, or the error object (CONTRACT C-2.3) on stderr and 1. A directory that was
 * asked for and cannot be read is a usage fault: the answer would be about other skills than were meant.
 */
export async function runCall(
  tool: string,
  input: string | undefined,
  options: Omit<ListingOptions, "json">,
  terminal: Terminal,
): Promise<number | UsageFault> {
  const args = await readInput(input, terminal.cwd);
  if (isUsageFault(args)) return args;
  const { catalog, complete } = await openListing(options, terminal);
  if (!complete) return 2;
  const log = openProcessLog();
  const toolkit = openToolkit(readOptions({ log, home: terminal.home }));
  try {
    const context = { owner: localOwner, door: "cli", skills: catalog } as const;
    await terminal.print([jsonText(await toolkit.toolbox.call(tool, args.value, context), 2), "\n"]);
    return 0;
  } catch (error) {
    tellError(error, log);
    return 1;
  } finally {
    await toolkit.close();
  }
}

function tellError(error: unknown, log: Log): void {
  process.stderr.write(`${jsonText(toWireError(error, { log, newErrorId }))}\n`);
}

async function readInput(input: string | undefined, cwd: string): Promise<{ readonly value: unknown } | UsageFault> {
  if (input === undefined) return { value: {} };
  const where = input === "-" ? "stdin" : input.startsWith("@") ? input.slice(1) : "INPUT";
  try {
    return { value: JSON.parse(await readText(input, cwd)) as unknown };
  } catch (error) {
    if (error instanceof TypeError) return { usageFault: `${where} is not UTF-8` };
    const why = error instanceof SyntaxError ? "is not JSON" : "cannot be read";
    return { usageFault: `${where} ${why}: ${error instanceof Error ? error.message : String(error)}` };
  }
}

async function readText(input: string, cwd: string): Promise<string> {
  if (input !== "-" && !input.startsWith("@")) return input;
  const bytes = input === "-" ? await buffer(process.stdin) : readFileSync(path.resolve(cwd, input.slice(1)));
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}
