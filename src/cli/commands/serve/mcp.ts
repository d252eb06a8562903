import { openApp } from "../../../runtime/app.ts";
import { whenParentGone } from "../../../base/processes/live-process.ts";
import { createCaller } from "../../../runtime/caller.ts";
import { serveMcp } from "../../../mcp/serve-mcp.ts";
import { logIdleGrants, readOptions } from "../../../runtime/options.ts";
import { logProblemsOf } from "../../../skills/skillset.ts";
import { running, toRunningOptions } from "../../arguments/running-options.ts";
import { cwd, notes, roots, toSourceOptions } from "../../arguments/shared-options.ts";
import { directoryFault, toAbsolute } from "../../arguments/values.ts";
import { defineCommand, usageError } from "../../command.ts";
import { onInterruption } from "../../report/terminal.ts";

/** Shares its blobs with `acp-skills call`: they belong to the user of this machine. */
export const command = defineCommand({
  usage: "mcp [options]",
  options: { ...roots, ...running, cwd },
  examples: ["mcp --skills ./skills", "mcp --cwd ~/project --grant deploy:network,secrets"],
  notes: [notes.sandbox, notes.roots, notes.data, "Exits when the client closes stdin."],
  async run({ options }, terminal) {
    const { skills = [], "no-default-roots": isNarrow } = options;
    const runningOptions = toRunningOptions(options);
    const directory = toAbsolute(options.cwd ?? ".");
    const [fault] = options.cwd === undefined ? [] : directoryFault("--cwd", directory);
    if (fault !== undefined) throw usageError(fault);
    const { log } = terminal;
    const settings = readOptions({
      log,
      defaultRoots: isNarrow !== true,
      skills: skills.map(toAbsolute),
      ...runningOptions,
      ...toSourceOptions(options),
    });
    const app = openApp(settings);
    const session = app.openSession({ cwd: directory });
    logProblemsOf(session, log);
    logIdleGrants(settings.grants, session.catalog, log);
    const { clock } = settings;
    const gone = new AbortController();
    const stopLooking = whenParentGone({ clock, parent: () => process.ppid }, () => gone.abort());
    const { signal, stop } = onInterruption();
    try {
      const { stdin: input, stdout: output } = process;
      const streams = { input, output, gone: AbortSignal.any([gone.signal, signal]) };
      await serveMcp(app, { ...createCaller(session, { door: "mcp" }), asksClient: true }, streams);
    } finally {
      stopLooking();
      stop();
      await app.close();
    }
    return signal.aborted ? 130 : 0;
  },
});
