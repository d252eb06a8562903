import type { Log } from "../../base/log.ts";
import type { SkillsOptions } from "../../runtime/options.ts";
import { createFileLog } from "../open-log.ts";
import { type OptionTable, type OptionValues, choice, flag, text } from "../command.ts";
import type { Terminal } from "../report/terminal.ts";
import { running, toSkillsOptions } from "./running-options.ts";
import { notes, roots } from "./shared-options.ts";
import { reasonOf } from "./values.ts";

/** Options of the commands that stand between an editor and its agent. */
export const session = {
  ...roots,
  ...running,
  emit: choice(
    ["auto", "rfd", "commands", "none"],
    "How skills are announced to the editor. Default: auto, in the forms that it supports.",
  ),
  tools: choice(
    ["auto", "stdio", "none"],
    "How tools are served: over HTTP or stdio, over stdio only, or not at all. Default: auto.",
  ),
  "no-teach": flag("Do not list the skills to the model in prompts; it can still call list_skills."),
  "no-approve": flag("Leave every permission request of the agent to the editor."),
  log: text("FILE", "Append diagnostics with timestamps to FILE; only errors go to stderr."),
} as const satisfies OptionTable;

/** What these commands change, for their help. */
export const sessionNotes = [
  "These messages are changed, all others pass unchanged:",
  "  initialize response: the tools and updates on offer are added           (not with --emit none --tools none)",
  "  session/new, load, resume, fork: an MCP server `skills` is added        (not with --tools none)",
  "  the agent's list of commands: one command per skill is added            (not with --emit none)",
  "  a prompt that begins with /SKILL or $SKILL: its instructions are added  (not with --emit none)",
  "  first prompt, and the next after a change: the list of skills is added  (not with --no-teach or --tools none)",
  "  permission requests for our tools: approved if a sandbox is enough      (not with --no-approve)",
  "  replayed messages, titles, session lists: what was added is removed     (not with --emit none --tools none)",
  "With --emit none --tools none every message passes unchanged.",
  notes.sandbox,
  notes.roots,
  notes.data,
];

/** The options as settings; undefined, with an error on stderr, if the log file cannot be opened. Throws INVALID_OPTIONS. */
export function createSessionOptions(
  given: OptionValues<typeof session>,
  { log: stderr }: Pick<Terminal, "log">,
): SkillsOptions | undefined {
  const options = toSkillsOptions(given, stderr);
  let log: Log = stderr;
  if (given.log !== undefined) {
    try {
      log = createFileLog(given.log, stderr, () => new Date());
    } catch (error) {
      stderr("error", `cannot open --log ${given.log}: ${reasonOf(error)}`);
      return undefined;
    }
  }
  return {
    ...options,
    log,
    ...(given.emit !== undefined && { emit: given.emit }),
    ...(given.tools !== undefined && { tools: given.tools }),
    teach: given["no-teach"] !== true,
    approve: given["no-approve"] !== true,
  };
}
