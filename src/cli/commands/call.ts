import { resolve } from "node:path";
import type { Log } from "../../base/log.ts";
import { readOptions } from "../../options.ts";
import { openApp } from "../../app.ts";
import { createCaller } from "../../caller.ts";
import { onPrinted } from "../../runs/run-event.ts";
import { toWireError } from "../../wire/error-table.ts";
import { refuseUnknownGrants } from "../arguments/refuse-unknown-grants.ts";
import { cwd, notes, roots, running } from "../arguments/shared-options.ts";
import { defineCommand } from "../command.ts";
import { onInterruption } from "../interruption.ts";
import { jsonText } from "../report/json-text.ts";
import { openListing } from "../open-listing.ts";
import { openProcessLog } from "../open-log.ts";
import { printLines } from "../report/print-lines.ts";
import { readInput } from "../arguments/read-input.ts";
import { toRunningOptions } from "../arguments/running-options.ts";

export const call = defineCommand({
  usage: "call TOOL [INPUT] [options]",
  positionals: { name: "TOOL", minimum: 1, maximum: 2 },
  options: { ...roots, ...running, cwd },
  examples: ["call list_skills", `call describe_skill '{"name": "pdf"}'`, "call run_code @input.json"],
  notes: [
    "INPUT is the tool's input as JSON, @FILE for a file that contains it, or - for stdin. Default: {}.",
    "Prints the result as JSON, also of a run that failed. If the tool refuses: the error as JSON on stderr, exit code 1.",
    "acp-skills tools prints the tools and their parameters.",
    notes.sandbox,
    notes.roots,
    notes.data,
  ],
  async run({ options, positionals: [tool = "", input] }, terminal) {
    const args = await readInput(input, "INPUT", () => terminal.cwd);
    const settings = toRunningOptions(options, () => terminal.cwd);
    const { catalog, complete } = await openListing(options, terminal);
    if (!complete) return 2;
    refuseUnknownGrants(options.grant, catalog);
    const log = openProcessLog();
    const app = openApp(readOptions({ log, ...settings }, { home: terminal.home }));
    const { signal, stop } = onInterruption();
    const printed = printLines((text) => void process.stderr.write(text));
    try {
      const session = { catalog, directory: resolve(terminal.cwd, options.cwd ?? ".") };
      const caller = createCaller(session, { door: "cli", onEvent: onPrinted(printed.push) });
      const called = app.toolbox.call(tool, args, caller, signal).finally(printed.end);
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
      await app.close();
    }
  },
});

function tellError(error: unknown, log: Log): void {
  process.stderr.write(`${jsonText(toWireError(error, { log }))}\n`);
}
