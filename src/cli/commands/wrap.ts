import { closeSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { exitAs } from "../../acp/process/start-agent.ts";
import { wrapCommand } from "../../acp/process/wrap-command.ts";
import type { Log } from "../../base/log.ts";
import type { SkillsOptions } from "../../options.ts";
import { running, toRunningOptions } from "../arguments/running-options.ts";
import { notes, roots, toSourceOptions } from "../arguments/shared-options.ts";
import { reasonOf, toAbsolute } from "../arguments/values.ts";
import { defineCommand, usageError } from "../command.ts";
import { openFileLog, openProcessLog } from "../open-log.ts";

/** Ends this process like the agent: with its exit code, or by its signal. */
export const command = defineCommand({
  usage: "[options] -- AGENT [ARG…]",
  takesRest: true,
  options: {
    ...roots,
    ...running,
    emit: {
      type: "string",
      choices: ["auto", "rfd", "commands", "none"],
      help: "How skills are announced to the editor. Default: auto, in the forms that it supports.",
    },
    tools: {
      type: "string",
      choices: ["auto", "stdio", "none"],
      help: "How tools are served: over HTTP or stdio, over stdio only, or not at all. Default: auto.",
    },
    "no-teach": {
      type: "boolean",
      help: "Do not list the skills to the model in prompts; it can still call list_skills.",
    },
    "no-approve": { type: "boolean", help: "Leave every permission request of the agent to the editor." },
    log: {
      type: "string",
      value: "FILE",
      help: "Append diagnostics with timestamps to FILE; only errors go to stderr.",
    },
  },
  examples: [
    "-- npx @agentclientprotocol/claude-agent-acp",
    "--skills ./skills --grant deploy:network -- gemini --acp",
  ],
  notes: [
    "Everything after -- is the agent's command. Exits as the agent does; 127: command not found, 126: not executable.",
    "These messages are changed, all others pass unchanged:",
    "  initialize response: the tools and updates on offer are added           (not with --emit none --tools none)",
    "  session/new, load, resume, fork: an MCP server `skills` is added        (not with --tools none)",
    "  the agent's list of commands: one command per skill is added            (not with --emit none)",
    "  a prompt that begins with /SKILL or $SKILL: its instructions are added  (not with --emit none)",
    "  first prompt, and the next after a change: the list of skills is added  (not with --no-teach or --tools none)",
    "  permission requests for our read-only tools, and for tools that an",
    "    approved skill lists in allowed-tools: approved for the user          (not with --no-approve)",
    "  replayed messages, titles, session lists: what was added is removed     (not with --emit none --tools none)",
    "With --emit none --tools none every message passes unchanged.",
    notes.sandbox,
    notes.roots,
    notes.data,
  ],
  async run({ options: given, rest }) {
    const [command, ...args] = rest ?? [];
    if (command === undefined) throw usageError("missing agent; write: acp-skills [options] -- AGENT [ARG…]");
    if (command === "") throw usageError("the agent's command is empty");
    // Each list of thousands of skills leaves megabytes of garbage: collect it after growing by a fifth instead of doubling.
    setFlagsFromString("--heap-growing-percent=20");
    const runningOptions = toRunningOptions(given);
    const stderr = openProcessLog();
    let log: Log = stderr;
    if (given.log !== undefined) {
      try {
        log = openFileLog(given.log, stderr, () => new Date());
      } catch (error) {
        stderr("error", `cannot open --log ${given.log}: ${reasonOf(error)}`);
        return 2;
      }
    }
    const options: SkillsOptions = {
      log,
      ...runningOptions,
      ...toSourceOptions(given),
      defaultRoots: given["no-default-roots"] !== true,
      ...(given.skills !== undefined && { skills: given.skills.map(toAbsolute) }),
      ...(given.emit !== undefined && { emit: given.emit }),
      ...(given.tools !== undefined && { tools: given.tools }),
      teach: given["no-teach"] !== true,
      approve: given["no-approve"] !== true,
    };
    // The timers of our clock do not keep the process alive while the last messages are awaited; this one does.
    setInterval(() => undefined, 2 ** 30);
    const status = await wrapCommand({
      command,
      args,
      input: process.stdin,
      output: process.stdout,
      // Node does not close stdout when the stream ends.
      endOutput: () => closeSync(1),
      options,
    });
    exitAs(status);
    process.exit();
  },
});
