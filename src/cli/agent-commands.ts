/** Commands of agents that speak ACP, with their arguments for that. */
export const agentCommands: ReadonlyMap<string, readonly string[]> = new Map([
  ["claude-agent-acp", []],
  ["claude-code-acp", []],
  ["codex-acp", []],
  ["gemini", ["--acp"]],
  ["goose", ["acp"]],
  ["opencode", ["acp"]],
  ["qwen", ["--acp"]],
  ["copilot", ["--acp"]],
  ["kimi", ["acp"]],
  ["cursor-agent", ["acp"]],
  ["auggie", ["--acp"]],
  ["pi-acp", []],
]);
