import { expect, test } from "vitest";
import { factsOf, knownAgents, spell } from "../../../src/acp/negotiation/agents.ts";

const names = [
  "@agentclientprotocol/claude-agent-acp",
  "OpenCode",
  "Kilo",
  "auggie",
  "@agentclientprotocol/codex-acp",
  "codex-acp",
  "gemini-cli",
  "qwen-code",
  "Copilot",
  "Kimi Code CLI",
  "pi-acp",
];

test("knows eleven agents by the names in their initialize responses", () => {
  const labels = [
    ...["Claude", "opencode", "Kilo", "auggie", "Codex", "codex-acp"],
    ...["Gemini CLI", "qwen-code", "Copilot", "Kimi Code", "pi"],
  ];
  expect(names.map((name) => factsOf(name).label)).toEqual(labels);
  expect(knownAgents.map(({ label }) => label)).toEqual(labels);
});

test("expects a list of commands from known agents only", () => {
  for (const name of names) expect(factsOf(name).listsCommands).toBe(true);
  for (const name of ["", "someone"]) expect(factsOf(name).listsCommands).toBe(false);
});

test.each(["", "someone", "not-gemini-cli", "constructor"])("assumes nothing about %j", (name) => {
  expect(factsOf(name)).toMatchObject({ label: "", tools: undefined, reads: undefined });
});

test.each([
  ["@agentclientprotocol/claude-agent-acp", "mcp__my_skills__run_code"],
  ["OpenCode", "my_skills_run_code"],
  ["@agentclientprotocol/codex-acp", "mcp__my_skills__run_code"],
  ["gemini-cli", "mcp_my_skills_run_code"],
  ["qwen-code", "mcp__my_skills__run_code"],
  ["Copilot", "my_skills-run_code"],
])("spells a tool name of %s as %s", (name, tool) => {
  expect(spell(factsOf(name).tools?.forModel ?? "", "my skills", "run_code")).toBe(tool);
});
