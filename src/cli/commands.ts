import type { Command } from "./command.ts";

interface Entry {
  /** One line for `acp-skills --help`. Commands without one are internal and not listed. */
  readonly summary?: string;
  readonly load: () => Promise<Command>;
}

/** Every command. A command is one file and one line here; only the file of the requested command is loaded. */
export const commands = {
  wrap: {
    summary: "Run an ACP agent and add skills to its sessions",
    load: async () => (await import("./commands/wrap.ts")).wrap,
  },
  list: {
    summary: "List the skills that a session would have",
    load: async () => (await import("./commands/list.ts")).list,
  },
  show: {
    summary: "Show everything about one skill",
    load: async () => (await import("./commands/show.ts")).show,
  },
  check: {
    summary: "Validate skills and report problems",
    load: async () => (await import("./commands/check/check.ts")).check,
  },
  run: {
    summary: "Run a skill's code in a sandbox",
    load: async () => (await import("./commands/run.ts")).run,
  },
  runs: {
    summary: "List recent runs, and show one with its result",
    load: async () => (await import("./commands/runs.ts")).runs,
  },
  install: {
    summary: "Install the Python packages that a skill requires",
    load: async () => (await import("./commands/install.ts")).install,
  },
  doctor: {
    summary: "Check what works on this machine, and how to fix what does not",
    load: async () => (await import("./commands/doctor.ts")).doctor,
  },
  mcp: {
    summary: "Serve skills and tools to an MCP client over stdio",
    load: async () => (await import("./commands/mcp.ts")).mcp,
  },
  call: {
    summary: "Call one of the tools that agents call",
    load: async () => (await import("./commands/call.ts")).call,
  },
  tools: {
    summary: "Print the tool definitions for a model API",
    load: async () => (await import("./commands/tools.ts")).tools,
  },
  blobs: {
    summary: "List, read and delete stored blobs",
    load: async () => (await import("./commands/blobs.ts")).blobs,
  },
  ledger: {
    summary: "Show which skills were used, when, and by which session",
    load: async () => (await import("./commands/ledger.ts")).ledger,
  },
  "mcp-bridge": { load: async () => (await import("./commands/mcp-bridge.ts")).mcpBridge },
} satisfies Readonly<Record<string, Entry>>;

export type CommandName = keyof typeof commands;

/** Names and summaries of the public commands. */
export function listedCommands(): { readonly name: CommandName; readonly summary: string }[] {
  const entries = Object.entries(commands) as [CommandName, Entry][];
  return entries.flatMap(([name, { summary }]) => (summary === undefined ? [] : { name, summary }));
}
