import path from "node:path";
import { type Stats, closeSync, constants, fstatSync, lstatSync, openSync, realpathSync, writeSync } from "node:fs";
import type { Log } from "../../base/log.ts";
import type { SkillsOptions } from "../../runtime/options.ts";
import { type OptionTable, type OptionValues, choice, flag, text } from "../command.ts";
import type { Terminal } from "../report/terminal.ts";
import { running, toSkillsOptions } from "./running-options.ts";
import { roots } from "./shared-options.ts";
import { reasonOf } from "./values.ts";
import { systemCode } from "../../base/failures/system-error.ts";
import { safeText } from "../report/safe-text.ts";

/** Options of the commands that stand between an editor and its agent. */
export const session = {
  ...roots,
  ...running,
  announce: {
    ...choice(
      ["auto", "rfd", "commands", "none"],
      "How skills are announced to the editor. Default: auto, in the forms it supports.",
    ),
    formerly: "emit",
  },
  tools: choice(
    ["auto", "stdio", "none"],
    "How tools are served: over HTTP or stdio, over stdio only, or not at all. Default: auto.",
  ),
  "no-instruct-model": {
    ...flag("Do not list the skills to the model in prompts; it can still call list_skills."),
    formerly: "no-teach",
  },
  "no-answer-permissions": {
    ...flag("Leave every permission request of the agent to the editor."),
    formerly: "no-approve",
  },
  log: text("FILE", "Append diagnostics with timestamps to FILE; only errors go to stderr."),
} as const satisfies OptionTable;

/** The `--help` notes of these commands: which messages they change. */
export const sessionNotes = [
  "These messages are changed, all others pass unchanged:",
  "  initialize response: the tools and updates on offer are added           (not with --announce none --tools none)",
  "  session/new, load, resume, fork: an MCP server `skills` is added        (not with --tools none)",
  "  the agent's list of commands: one command per skill is added            (not with --announce none)",
  "  a prompt that begins with /SKILL or $SKILL: its instructions are added  (not with --announce none)",
  "  first prompt, and the next after a change: the list of skills is added  (not with --no-instruct-model or --tools none)",
  "  permission requests for our tools: approved if a sandbox is enough      (not with --no-answer-permissions)",
  "  replayed messages, titles, session lists: what was added is removed     (not with --announce none --tools none)",
  "With --announce none --tools none every message passes unchanged.",
];

/** Converts the options to settings; undefined, with an error on stderr, if the log file cannot be opened. Throws INVALID_OPTIONS. */
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
    ...(given.announce !== undefined && { announce: given.announce }),
    ...(given.tools !== undefined && { tools: given.tools }),
    instructModel: given["no-instruct-model"] !== true,
    answerPermissions: given["no-answer-permissions"] !== true,
  };
}

/** With O_NONBLOCK, opening a FIFO without a reader fails instead of blocking. Windows has neither flag. */
const { O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;
const openFlags = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | O_NONBLOCK | O_NOFOLLOW;

/**
 * Appends diagnostics of every level to a file, with times; errors also go to `aside`. Throws if the file cannot be opened. Throws for
 * files that an attacker could redirect: behind a symbolic link, not regular, or owned by another user. A later write error is reported
 * once; then everything goes to `aside`.
 */
export function createFileLog(file: string, aside: Log, now: () => Date): Log {
  const descriptor = openOwnFile(file);
  let isBroken = false;
  return (level, message) => {
    if (level === "error" || isBroken) aside(level, message);
    if (isBroken) return;
    try {
      writeSync(descriptor, `${now().toISOString()} ${level} ${safeText(message)}\n`);
    } catch (error) {
      isBroken = true;
      aside("error", `cannot write to ${file}: ${String(error)}`);
      if (level !== "error") aside(level, message);
    }
  };
}

function openOwnFile(file: string): number {
  if (liesBehindLink(file)) throw new Error(isLink);
  // Windows follows links; on other systems O_NOFOLLOW refuses them without a race.
  if (O_NOFOLLOW === 0 && lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    throw new Error(isLink);
  let descriptor: number;
  try {
    descriptor = openSync(file, openFlags, 0o600);
  } catch (error) {
    throw systemCode(error) === "ELOOP" ? new Error(isLink) : error;
  }
  const fault = ownershipFault(fstatSync(descriptor));
  if (fault === undefined) return descriptor;
  closeSync(descriptor);
  throw new Error(fault);
}

const isLink = "the path contains a symbolic link; use the path of the file itself";

/** Whether a symbolic link leads to the directory of a relative path: directories below the current one may come with a repository. */
function liesBehindLink(file: string): boolean {
  if (path.isAbsolute(file)) return false;
  const directory = path.resolve(realpathSync("."), path.dirname(file));
  return realpathSync(directory) !== directory;
}

function ownershipFault(found: Stats): string | undefined {
  // A terminal, or /dev/null.
  if (found.isCharacterDevice()) return undefined;
  if (!found.isFile()) return "it is not a regular file";
  const user = process.geteuid?.();
  return user === undefined || found.uid === user ? undefined : "it belongs to another user";
}
