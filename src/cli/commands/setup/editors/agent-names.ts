import path from "node:path";

/** The name of an agent by its command: `claude-agent-acp` of `npx -y @agentclientprotocol/claude-agent-acp@1`. */
export function agentName([command = "", ...args]: readonly string[]): string {
  const program = path.posix.basename(command.replaceAll("\\", "/")).replace(/\.(?:exe|cmd|js|mjs)$/, "");
  const first = args.find((word) => !word.startsWith("-"));
  if (!["npx", "bunx", "pnpm", "uvx", "node", "bun", "python", "python3"].includes(program) || first === undefined)
    return program;
  const [, name = first] = /([^\\/@]+)(?:@[^\\/@]*)?$/.exec(first) ?? [];
  return name.replace(/\.(?:js|mjs|py)$/, "");
}

export function nameWithSkills(agent: readonly string[]): string {
  return `${agentName(agent)} with skills`;
}
