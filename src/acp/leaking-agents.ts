/**
 * Agents that let other users of the machine read how their MCP servers are reached. Claude's SDK starts its command line tool with all
 * of `mcpServers` among the arguments, which stand in /proc/PID/cmdline (claude-agent-acp 0.100.0).
 */
const leaking: readonly RegExp[] = [/\bclaude\b/i];

/** Whether an agent of this name, as it gives it in `agentInfo`, makes public what it is configured with. */
export function leaksConfiguration(agent: string): boolean {
  return leaking.some((name) => name.test(agent));
}
