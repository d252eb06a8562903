import type { Command } from "../command.ts";

/** The summary in `acp-skills --help`, which omits commands without one because they are internal, and the loader of the command. */
type Entry = readonly [summary: string | undefined, load: () => Promise<{ readonly command: Command }>];

/** Every command, in the order of `--help`. A command is one file and one line here; only the file of the requested command is loaded. */
export const commands = {
  setup: ["Start the agents of an editor through acp-skills", () => import("./setup.ts")],
  wrap: ["Run an ACP agent and add skills to its sessions", () => import("./serve/wrap.ts")],
  list: ["List the skills that a session would have", () => import("./inspect/list.ts")],
  browse: ["Open a page with the skills: read, approve and run them", () => import("./serve/browse.ts")],
  doctor: ["Check what works here, and how to fix what does not", () => import("./inspect/doctor.ts")],
  init: ["Create a skill", () => import("./authoring/init.ts")],
  check: ["Validate skills and report problems", () => import("./authoring/check.ts")],
  sign: ["Sign a skill, so that others see who made it", () => import("./authoring/sign.ts")],
  run: ["Run a skill's code in a sandbox", () => import("./runs/run.ts")],
  eval: ["Measure whether an agent uses a skill, and whether it helps", () => import("./authoring/eval.ts")],
  find: ["Search skills here and at sources", () => import("./sources/find.ts")],
  discover: ["Show which skills a domain, registry or repository offers", () => import("./sources/discover.ts")],
  add: ["Install skills from elsewhere", () => import("./sources/add.ts")],
  update: ["Update installed skills, after showing what changes", () => import("./sources/update.ts")],
  outdated: ["List installed skills whose source has changed", () => import("./sources/outdated.ts")],
  remove: ["Remove installed skills", () => import("./sources/remove.ts")],
  publish: ["Push skills to a registry of OCI artifacts", () => import("./sources/publish.ts")],
  verify: ["Compare installed skills with the lock", () => import("./sources/verify.ts")],
  install: ["Install the Python packages that a skill requires", () => import("./runs/install.ts")],
  approvals: ["List, grant and revoke what skills may do", () => import("./trust/approvals.ts")],
  policy: ["Validate policies, and explain what they decide about a skill", () => import("./trust/policy.ts")],
  ledger: ["Show which skills were used, when and by whom", () => import("./trust/ledger.ts")],
  serve: ["Serve skills and tools over HTTP", () => import("./serve/serve.ts")],
  worker: ["Execute the runs of a cluster of servers", () => import("./serve/worker.ts")],
  cluster: ["Create, watch and try out a cluster of servers and workers", () => import("./cluster.ts")],
  mcp: ["Serve skills and tools to an MCP client over stdio", () => import("./serve/mcp.ts")],
  proxy: ["Add skills in a chain of ACP proxies, for its conductor", () => import("./serve/proxy.ts")],
  tools: ["Print the tool definitions for a model API", () => import("./serve/tools.ts")],
  call: ["Call one of the tools that agents call", () => import("./runs/call.ts")],
  conformance: ["Check how an agent announces skills, or how a client receives them", () => import("./conformance.ts")],
  show: ["Show everything about one skill", () => import("./inspect/show.ts")],
  env: ["Compare what skills require with this machine", () => import("./inspect/env.ts")],
  licenses: ["List the licenses of skills", () => import("./inspect/licenses.ts")],
  runs: ["List recent runs, and show one with its result", () => import("./runs/runs.ts")],
  replay: ["Run a recorded run again, and compare the output", () => import("./runs/replay.ts")],
  blobs: ["List, read and delete stored blobs", () => import("./runs/blobs.ts")],
  completion: ["Print a completion script for a shell", () => import("./completion.ts")],
  complete: [undefined, async () => ({ command: (await import("./completion.ts")).complete })],
  "mcp-bridge": [undefined, () => import("./serve/mcp-bridge.ts")],
} satisfies Readonly<Record<string, Entry>>;

export type CommandName = keyof typeof commands;

/** The sections of `acp-skills --help`: what the user wants, and the first command that does it. */
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
  return entries.flatMap(([name, [summary]]) => (summary === undefined ? [] : { name, summary }));
}
