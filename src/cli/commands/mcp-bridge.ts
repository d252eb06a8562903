import { systemClock } from "../../base/clock.ts";
import { runBridge } from "../../mcp/socket/bridge.ts";
import { openProcessLog } from "../open-log.ts";

/** `acp-skills mcp-bridge SOCKET`: started by agents, at the wrapper's wish, never by people. Returns 2 where the wrapper gave no socket. */
export async function runMcpBridge([path, ...others]: readonly string[]): Promise<number> {
  const log = openProcessLog();
  if (path === undefined || others.length > 0) {
    log("error", "mcp-bridge is started by an agent that acp-skills wraps; for an MCP client, write: acp-skills mcp");
    return 2;
  }
  const { stdin: input, stdout: output } = process;
  const isDone = await runBridge({ input, output, path, log, clock: systemClock, parent: () => process.ppid });
  return isDone ? 0 : 1;
}
