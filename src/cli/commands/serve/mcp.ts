import { openApp } from "../../../runtime/app.ts";
import { whenParentGone } from "../../../base/processes/live-process.ts";
import { createCaller } from "../../../runtime/caller.ts";
import { serveMcp } from "../../../mcp/serve-mcp.ts";
import { logIdleGrants, readOptions } from "../../../runtime/options.ts";
import { openGivenPorts } from "../../../given-ports.ts";
import { logProblemsOf } from "../../../skills/skillset.ts";
import { running, toSkillsOptions } from "../../arguments/running-options.ts";
import { cwd, roots } from "../../arguments/shared-options.ts";
import { existingDirectory } from "../../arguments/values.ts";
import { defineCommand, exit } from "../../command.ts";
import { interruptible } from "../../report/terminal.ts";

/** Shares its blobs with `acp-skills call`, because blobs belong to the user of this machine. */
export const command = defineCommand({
  options: { ...roots, ...running, cwd },
  examples: ["mcp --skills ./skills", "mcp --cwd ~/project --grant deploy:network,secrets"],
  notes: ["Exits when the client closes stdin."],
  async run({ options }, terminal) {
    const { log } = terminal;
    const directory = existingDirectory("--cwd", options.cwd);
    const settings = readOptions(toSkillsOptions(options, log));
    const app = openApp(settings, await openGivenPorts(settings));
    const session = app.openSession({ cwd: directory });
    logProblemsOf(session, log);
    logIdleGrants(settings.grants, session.catalog, log);
    const gone = new AbortController();
    const stopWatching = whenParentGone({ clock: settings.clock, parent: () => process.ppid }, () => gone.abort());
    return await interruptible(terminal, async (signal) => {
      try {
        const { stdin: input, stdout: output } = process;
        const streams = { input, output, gone: AbortSignal.any([gone.signal, signal]) };
        await serveMcp(app, { ...createCaller(session, { transport: "mcp" }), asksClient: true }, streams);
      } finally {
        stopWatching();
        await app.close();
      }
      return signal.aborted ? exit.interrupted : exit.done;
    });
  },
});
