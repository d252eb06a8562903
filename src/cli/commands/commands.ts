import type { Command } from "../command.ts";

interface Entry {
  /** One line for `acp-skills --help`. Commands without one are internal and not listed. */
  readonly summary?: string;
  readonly load: () => Promise<{ readonly command: Command }>;
}

/** Every command, in the order of `--help`. A command is one file and one line here; only the file of the requested command is loaded. */
export const commands = {
  setup: {
    summary: "Start the agents of an editor through acp-skills",
    load: () => import("./setup.ts"),
  },
  wrap: { summary: "Run an ACP agent and add skills to its sessions", load: () => import("./serve/wrap.ts") },
  list: { summary: "List the skills that a session would have", load: () => import("./inspect/list.ts") },
  browse: {
    summary: "Open a page with the skills: read, approve and run them",
    load: () => import("./serve/browse.ts"),
  },
  doctor: {
    summary: "Check what works here, and how to fix what does not",
    load: () => import("./inspect/doctor.ts"),
  },
  init: { summary: "Create a skill", load: () => import("./authoring/init.ts") },
  check: { summary: "Validate skills and report problems", load: () => import("./authoring/check.ts") },
  run: { summary: "Run a skill's code in a sandbox", load: () => import("./runs/run.ts") },
  eval: {
    summary: "Measure whether an agent uses a skill, and whether it helps",
    load: () => import("./authoring/eval.ts"),
  },
  find: { summary: "Search skills here and at sources", load: () => import("./sources/find.ts") },
  discover: {
    summary: "Show which skills a domain, registry or repository offers",
    load: () => import("./sources/discover.ts"),
  },
  add: { summary: "Install skills from elsewhere", load: () => import("./sources/add.ts") },
  update: {
    summary: "Update installed skills, after showing what changes",
    load: () => import("./sources/update.ts"),
  },
  outdated: {
    summary: "List installed skills whose source has changed",
    load: () => import("./sources/outdated.ts"),
  },
  remove: { summary: "Remove installed skills", load: () => import("./sources/remove.ts") },
  verify: { summary: "Compare installed skills with the lock", load: () => import("./sources/verify.ts") },
  install: {
    summary: "Install the Python packages that a skill requires",
    load: () => import("./runs/install.ts"),
  },
  approvals: {
    summary: "List, grant and revoke what skills may do",
    load: () => import("./trust/approvals.ts"),
  },
  policy: {
    summary: "Validate policies, and explain what they decide about a skill",
    load: () => import("./trust/policy.ts"),
  },
  ledger: {
    summary: "Show which skills were used, when and by whom",
    load: () => import("./trust/ledger.ts"),
  },
  serve: { summary: "Serve skills and tools over HTTP", load: () => import("./serve/serve.ts") },
  mcp: { summary: "Serve skills and tools to an MCP client over stdio", load: () => import("./serve/mcp.ts") },
  proxy: {
    summary: "Add skills in a chain of ACP proxies, for its conductor",
    load: () => import("./serve/proxy.ts"),
  },
  tools: { summary: "Print the tool definitions for a model API", load: () => import("./serve/tools.ts") },
  call: { summary: "Call one of the tools that agents call", load: () => import("./runs/call.ts") },
  conformance: {
    summary: "Check how an agent announces its skills, or how a client receives them",
    load: () => import("./conformance.ts"),
  },
  show: { summary: "Show everything about one skill", load: () => import("./inspect/show.ts") },
  env: {
    summary: "Compare what skills require with this machine",
    load: () => import("./inspect/env.ts"),
  },
  licenses: { summary: "List the licenses of skills", load: () => import("./inspect/licenses.ts") },
  runs: { summary: "List recent runs, and show one with its result", load: () => import("./runs/runs.ts") },
  replay: {
    summary: "Run a recorded run again, and compare the output",
    load: () => import("./runs/replay.ts"),
  },
  blobs: { summary: "List, read and delete stored blobs", load: () => import("./runs/blobs.ts") },
  completion: {
    summary: "Print a completion script for a shell",
    load: () => import("./completion.ts"),
  },
  complete: { load: async () => ({ command: (await import("./completion.ts")).complete }) },
  "mcp-bridge": { load: () => import("./serve/mcp-bridge.ts") },
} satisfies Readonly<Record<string, Entry>>;

export type CommandName = keyof typeof commands;

/** The sections of `acp-skills --help`: what a person wants, and the first command that does it. */
export const sections: readonly { readonly title: string; readonly first: CommandName }[] = [
  { title: "Begin with", first: "setup" },
  { title: "Write skills", first: "init" },
  { title: "Find and install", first: "find" },
  { title: "Decide", first: "approvals" },
  { title: "Serve", first: "serve" },
  { title: "Look closer", first: "show" },
];

/** Names and summaries of the public commands. */
export function listedCommands(): { readonly name: CommandName; readonly summary: string }[] {
  const entries = Object.entries(commands) as [CommandName, Entry][];
  return entries.flatMap(([name, { summary }]) => (summary === undefined ? [] : { name, summary }));
}
