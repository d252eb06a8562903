import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { setFlagsFromString } from "node:v8";
import { exitAs, wrapAgentCommand } from "../../../acp/wrap-command.ts";
import { createSessionOptions, session, sessionNotes } from "../../arguments/session-options.ts";
import { defineCommand, usageError, exit } from "../../command.ts";

/** Ends this process like the agent: with its exit code, or by its signal. */
export const command = defineCommand({
  usage: "[options] -- AGENT [ARG…]",
  takesRest: true,
  options: session,
  examples: [
    "-- npx @agentclientprotocol/claude-agent-acp",
    "--skills ./skills --grant deploy:network -- gemini --acp",
  ],
  notes: [
    "Everything after -- is the agent's command. Exits as the agent does; 127: command not found, 126: not executable.",
    ...sessionNotes,
  ],
  async run({ options: given, rest }, terminal) {
    const [command, ...args] = rest ?? [];
    if (command === undefined) throw usageError("missing agent; write: acp-skills [options] -- AGENT [ARG…]");
    if (command === "") throw usageError("the agent's command is empty");
    // Each list of thousands of skills leaves megabytes of garbage: collect it after growing by a fifth instead of doubling.
    setFlagsFromString("--heap-growing-percent=20");
    const options = createSessionOptions(given, terminal);
    if (options === undefined) return exit.usage;
    const status = await wrapAgentCommand({
      command,
      args,
      input: process.stdin,
      output: process.stdout,
      // Node does not close stdout when the stream ends.
      endOutput: () => {
        closeSync(1);
        occupyDescriptor1();
      },
      options,
    });
    exitAs(status);
    process.exit();
  },
});

/** Occupies descriptor 1: libuv aborts when it closes a socket with that number. Another thread may briefly have a file open there. */
function occupyDescriptor1(): void {
  const opened = openSync(devNull, "w");
  if (opened === 1) return;
  closeSync(opened);
  setTimeout(occupyDescriptor1, 5).unref();
}
