import { setFlagsFromString } from "node:v8";
import { runProxy } from "../../../acp/run-proxy.ts";
import { createSessionOptions, session, sessionNotes } from "../../arguments/session-options.ts";
import { defineCommand, usageError, exit } from "../../command.ts";
import { onInterruption } from "../../report/terminal.ts";

/** Runs until the conductor closes stdin. */
export const command = defineCommand({
  options: session,
  examples: ["proxy --skills ./skills"],
  notes: [
    "A conductor starts it, in a chain before the agent; for example that of the Rust SDK:",
    '  agent-client-protocol-conductor agent "acp-skills proxy" "claude-agent-acp"',
    "Speaks proxy/initialize and proxy/successor of ACP v1 and v2, and _proxy/… of earlier conductors, over stdio.",
    "Exits when the conductor closes stdin. Without a conductor, write: acp-skills -- AGENT",
    ...sessionNotes,
  ],
  async run({ options: given }, terminal) {
    if (process.stdin.isTTY)
      throw usageError("a conductor of ACP proxies starts proxy; to run one agent, write: acp-skills -- AGENT");
    setFlagsFromString("--heap-growing-percent=20");
    const options = createSessionOptions(given, terminal);
    if (options === undefined) return exit.usage;
    const { signal } = onInterruption();
    await runProxy({ input: process.stdin, output: process.stdout, signal, options });
    process.exit(signal.aborted ? exit.interrupted : exit.done);
  },
});
