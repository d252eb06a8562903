import { resolve } from "node:path";
import { newErrorId } from "../../base/error-id.ts";
import type { Log } from "../../base/log.ts";
import { readOptions } from "../../options.ts";
import { localOwner, openToolkit } from "../../toolkit.ts";
import { toWireError } from "../../wire/error-table.ts";
import { grantFault } from "../arguments/grant-fault.ts";
import { onInterruption } from "../interruption.ts";
import { jsonText } from "../report/json-text.ts";
import { openListing } from "../open-listing.ts";
import type { ListingOptions } from "../open-listing.ts";
import { openProcessLog } from "../open-log.ts";
import { isUsageFault } from "../arguments/parse-arguments.ts";
import type { UsageFault } from "../arguments/parse-arguments.ts";
import { printLines } from "../report/print-lines.ts";
import { readInput } from "../arguments/read-input.ts";
import type { RunningArguments } from "../arguments/running-options.ts";
import { toRunningOptions } from "../arguments/running-options.ts";
import type { Terminal } from "../report/terminal.ts";

/** What `acp-skills call` is asked. */
export interface CallArguments extends Omit<ListingOptions, "json">, RunningArguments {}

/**
 * `acp-skills call TOOL [INPUT]`: the result on stdout, or the error object (CONTRACT C-2.3) on stderr and 1. A directory that was
 * asked for and cannot be read is a usage fault: the answer would be about other skills than were meant.
 */
export async function runCall(
  tool: string,
  input: string | undefined,
  options: CallArguments,
  terminal: Terminal,
): Promise<number | UsageFault> {
  const args = await readInput(input, "INPUT", () => terminal.cwd);
  if (isUsageFault(args)) return args;
  const running = toRunningOptions(options, () => terminal.cwd);
  if (isUsageFault(running)) return running;
  const { catalog, complete } = await openListing(options, terminal);
  if (!complete) return 2;
  const ungranted = grantFault(options.grant, catalog);
  if (ungranted !== undefined) return ungranted;
  const log = openProcessLog();
  const toolkit = openToolkit(readOptions({ log, home: terminal.home, ...running }));
  const { signal, stop } = onInterruption();
  const printed = printLines((text) => void process.stderr.write(text));
  try {
    const context = {
      owner: localOwner,
      door: "cli",
      skills: catalog,
      project: resolve(terminal.cwd, options.cwd ?? "."),
      onPrint: printed.push,
    } as const;
    const called = toolkit.toolbox.call(tool, args.value, context, signal).finally(printed.end);
    await terminal.print([jsonText(await called, 2), "\n"]);
    return 0;
  } catch (error) {
    if (signal.aborted) {
      terminal.tell("interrupted; the call was given up");
      return 130;
    }
    tellError(error, log);
    return 1;
  } finally {
    stop();
    await toolkit.close();
  }
}

function tellError(error: unknown, log: Log): void {
  process.stderr.write(`${jsonText(toWireError(error, { log, newErrorId }))}\n`);
}
