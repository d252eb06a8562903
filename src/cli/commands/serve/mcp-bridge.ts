import { systemClock } from "../../../base/clock.ts";
import { runBridge } from "../../../mcp/bridge.ts";
import { defineCommand, usageError, exit } from "../../command.ts";

/** Serves wrapped agents that support MCP servers over stdio only; they start this command, not users. */
export const command = defineCommand({
  usage: "mcp-bridge SOCKET",
  positionals: { name: "SOCKET", minimum: 0, maximum: Infinity },
  options: {},
  notes: ["Started by wrapped agents. For an MCP client use acp-skills mcp."],
  async run({ positionals: [path, ...others] }, terminal) {
    if (path === undefined || others.length > 0)
      throw usageError("mcp-bridge is started by wrapped agents; for an MCP client use acp-skills mcp");
    const { stdin: input, stdout: output } = process;
    const { log } = terminal;
    const isDone = await runBridge({ input, output, path, log, clock: systemClock, parent: () => process.ppid });
    return isDone ? exit.done : exit.unable;
  },
});
