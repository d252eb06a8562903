import { type App, openApp } from "../runtime/app.ts";
import { type Caller, createCaller } from "../runtime/caller.ts";
import { SkillsError, isSkillsError } from "../base/errors.ts";
import { openGivenPorts } from "../given-ports.ts";
import { readOptions } from "../runtime/options.ts";
import type { Replay } from "../runtime/runs.ts";
import type { RunEvent } from "../wire/run-event.ts";
import type { Catalog } from "../skills/skillset.ts";
import { refuseIdleGrants, type running, toRunningOptions } from "./arguments/running-options.ts";
import type { cwd as cwdOption, roots } from "./arguments/shared-options.ts";
import { type OptionValues, type ExitCode, exit } from "./command.ts";
import { createListing } from "./listing.ts";
import { reportRefusal, toOwnPaths } from "./report/outcome.ts";
import { openSafeLines } from "./report/safe-text.ts";
import { type Terminal, interruptible } from "./report/terminal.ts";
import { shellWord } from "../base/text/quoted.ts";

export interface Tools {
  readonly app: App;
  /** The user of this terminal. */
  readonly caller: Caller;
  readonly catalog: Catalog;
  /** Aborted by SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  /** Calls a tool. When it resolves or rejects, all printed output has been written. */
  readonly call: (tool: string, input: unknown) => Promise<unknown>;
  /** Runs a recorded run again; resolves and rejects like `call`. */
  readonly replay: (runId: string) => Promise<Replay>;
}

interface Calling {
  /** Whether a refusal is reported as JSON. */
  readonly json: boolean;
  /** Rewrites a refusal. */
  readonly reword?: (error: unknown, catalog: Catalog) => unknown;
}

/**
 * Opens the app, calls tools with it, and closes it. Output of code goes to stderr while it runs. If a directory cannot be read, no tool
 * is called, because the result would be about other skills.
 */
export async function callTools(
  options: OptionValues<typeof roots & typeof running & { readonly cwd: typeof cwdOption }>,
  terminal: Terminal,
  { json, reword = (error) => error }: Calling,
  perform: (tools: Tools) => Promise<ExitCode>,
): Promise<ExitCode> {
  const runningOptions = toRunningOptions(options);
  const { directory, catalog, status } = await createListing(options, terminal);
  if (status !== exit.done) return status;
  refuseIdleGrants(options.grant, catalog);
  const { log } = terminal;
  const settings = readOptions({ log, ...runningOptions }, { home: terminal.home });
  const app = openApp(settings, await openGivenPorts(settings));
  const printed = openSafeLines(
    (text) => terminal.echo(text),
    (text) => toOwnPaths(text, { catalog, cwd: terminal.cwd }),
  );
  const onEvent = (event: RunEvent): void => {
    if (event.type === "started") terminal.progress.show("running");
    if (event.type === "printed") printed.push(event.text);
  };
  const caller = createCaller({ catalog, directory }, { transport: "cli", onEvent, ask: terminal.ask });
  const shown = async <Output>(work: () => Promise<Output>): Promise<Output> => {
    terminal.progress.show("starting");
    return await work().finally(() => {
      printed.end();
      terminal.progress.done();
    });
  };
  const work = async (signal: AbortSignal): Promise<ExitCode> => {
    try {
      return await perform({
        app,
        caller,
        catalog,
        signal,
        call: (tool, input) => shown(() => app.toolbox.call(tool, input, caller, signal)),
        replay: (runId) => shown(() => app.toolbox.replay(runId, caller, signal)),
      });
    } catch (error) {
      signal.throwIfAborted();
      return reportRefusal(withOptions(reword(error, catalog), options), { json }, terminal);
    }
  };
  return await interruptible(terminal, work, "interrupted; the run was cancelled").finally(() => app.close());
}

/** Adds the options that named the skill's directory here to the command in a hint, so that a copied command finds the same skill. */
function withOptions(
  error: unknown,
  { skills = [], cwd }: OptionValues<typeof roots & { cwd: typeof cwdOption }>,
): unknown {
  if (!isSkillsError(error) || typeof error.facts.hint !== "string") return error;
  const { code, message, facts } = error;
  const where = [...skills.map((directory) => ["--skills", directory]), ...(cwd === undefined ? [] : [["--cwd", cwd]])];
  const hint = error.facts.hint.replace(/acp-skills approvals grant \S.*$/, (command) =>
    [
      command,
      ...where
        .filter(([name = ""]) => !command.includes(` ${name} `))
        .flat()
        .map(shellWord),
    ].join(" "),
  );
  return hint === facts.hint ? error : new SkillsError(code, message, { cause: error, facts: { ...facts, hint } });
}
