import { systemClock } from "../clock.ts";
import { fromBridgeEnvironment } from "../mcp/bridge-environment.ts";
import { runStdioShim } from "../mcp/stdio-shim.ts";
import { openStderrLog } from "./open-log.ts";

/** `acp-skills mcp-bridge`: started by agents, at the wrapper's wish, never by people. Returns 2 where the wrapper left no address. */
export async function runMcpBridge(): Promise<number> {
  const log = openStderrLog();
  const target = fromBridgeEnvironment(process.env);
  if (target === undefined) {
    log("error", "mcp-bridge is started by an agent that acp-skills wraps; for an MCP client, write: acp-skills mcp");
    return 2;
  }
  const { stdin: input, stdout: output } = process;
  await runStdioShim({ input, output, target, log, clock: systemClock, parent: () => process.ppid });
  return 0;
}
