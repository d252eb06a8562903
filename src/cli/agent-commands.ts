/** Programs of ACP agents, each with the arguments that make it speak ACP. */
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
