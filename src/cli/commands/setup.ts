import { existsSync } from "node:fs";
import path from "node:path";
import { findCommand } from "../../runtime/sandbox.ts";
import { SkillsError, isSkillsError } from "../../base/errors.ts";
import { json } from "../arguments/shared-options.ts";
import { oneOf } from "../arguments/values.ts";
import { defineCommand, usageError, flag, text, type ExitCode, exit } from "../command.ts";
import { defaultDataDirectory } from "../../base/paths/directories.ts";
import { errorLines, safeText } from "../report/safe-text.ts";
import type { Terminal } from "../report/terminal.ts";
import { homePath } from "../../base/paths/location.ts";
import {
  type SettingsFileChange,
  describeChange,
  toJson,
  type Context,
  planFor,
  planFound,
  settingsFilesOf,
} from "./setup/plan-files.ts";
import {
  type Editor,
  type NewAgent,
  type Plan,
  type SetupEnvironment,
  isTransient,
  ownWords,
  wrapWords,
} from "./setup/editor.ts";
import { editorNamed, editorNames } from "./setup/editors.ts";
import {
  type SetupRecord,
  createBackup,
  dropRecord,
  isOurs,
  isUntouched,
  readRecords,
  removeTemporaryFile,
  textBefore,
} from "./setup/records.ts";
import { type SettingsFile, readSettingsAt, withoutMark, writeSettingsFile } from "./setup/settings-file.ts";

export const command = defineCommand({
  usage: "setup EDITOR [options] [-- AGENT [ARG…]]",
  positionals: { name: `EDITOR: ${oneOf(editorNames)}`, minimum: 1, maximum: 1, values: editorNames },
  takesRest: true,
  options: {
    write: flag("Make the change that is shown, after a backup."),
    undo: flag("Restore what there was before."),
    name: text("NAME", "The name of the agent that is added."),
    json,
  },
  examples: [
    "setup zed",
    "setup zed --write",
    "setup jetbrains --write -- npx -y @agentclientprotocol/claude-agent-acp",
    "setup zed --undo",
  ],
  notes: [
    `EDITOR is ${oneOf(editorNames)}.`,
    "Shows as a diff how each ACP agent that is configured there would be started through acp-skills; --write does it.",
    "For VS Code, its forks, code-server and its servers on other machines, and the project's .vscode/settings.json; where no agent is configured, adds each known one that is on PATH.",
    "With -- AGENT, adds an agent. Comments, environment variables and arguments stay as they are; links are followed, but none that came with the project.",
    "For CodeCompanion, avante.nvim and agentic.nvim writes a file of its own into after/plugin; for agent-shell a block into Emacs's init file.",
    "For Obsidian prints what to enter in the settings of its plugin.",
    "Node and acp-skills are written with absolute paths, because editors often start with a short PATH.",
    "--undo restores the backup; if the file was changed since, it only takes out what starts agents through acp-skills.",
  ],
  async run({ positionals: [given = ""], options, rest }, terminal) {
    const editor = editorNamed(given);
    const [program, ...args] = rest ?? [];
    if (program === undefined && rest !== undefined) throw usageError("missing agent after --");
    if (program === undefined && options.name !== undefined)
      throw usageError("--name is the name of an agent to add; write: -- AGENT [ARG…]");
    if (options.undo === true && (options.write === true || program !== undefined))
      throw usageError("--undo takes neither --write nor an agent");
    if (editor === undefined) {
      if (options.write === true || options.undo === true)
        throw usageError("the plugin writes its settings itself; enter there what setup obsidian prints");
      return await showInstructions(rest, options.json === true, terminal);
    }
    const agent = program === undefined ? undefined : ({ name: options.name, words: [program, ...args] } as const);
    if (agent !== undefined && editor.add === undefined)
      throw usageError(`${editor.title} takes no agents from here: configure the agent there, then run it without --`);
    const { home, cwd } = terminal;
    const { platform, env } = process;
    const where = { home, cwd, platform, env, exists: existsSync, find: findCommand, wrapper: ownWords(process) };
    const context = { name: given, editor, where, terminal, json: options.json === true };
    return options.undo === true ? await undo(context) : await setUp(context, agent, options.write === true);
  },
});

/** Prints what to enter in Obsidian, whose plugin would overwrite a change of the file with its own settings. */
async function showInstructions(
  agent: readonly string[] = ["AGENT", "[ARG…]"],
  json: boolean,
  terminal: Terminal,
): Promise<ExitCode> {
  const words = wrapWords(ownWords(process), agent, terminal.home);
  const [node, ...args] = words;
  if (json) await terminal.printJson({ editor: "obsidian", files: [], command: words });
  else
    await terminal.print([
      "In Obsidian, in the settings of the plugin Agent Client, give each agent:\n",
      `  Path:       ${safeText(node ?? "")}\n`,
      ...args.map((word, index) => `  ${index === 0 ? "Arguments:" : "          "}  ${safeText(word)}\n`),
      "One argument a line. Then open the plugin's chat, and type /.\n",
    ]);
  return exit.done;
}

async function setUp(context: Context, agent: NewAgent | undefined, write: boolean): Promise<ExitCode> {
  const { name, editor, where, terminal } = context;
  const files = settingsFilesOf(editor, where, agent);
  if (files.length === 0) throw notThere(name, editor, where);
  const found = files.map((file) => ({ file, ...planFor(context, file, agent) }));
  const added = found.every(({ agents }) => agents.length === 0) ? planFound(context) : undefined;
  const planned = added === undefined ? found : [added];
  const changes: SettingsFileChange[] = [];
  for (const { file, text, agents } of planned) {
    if (agents.length === 0) continue;
    const changed = text !== file.text;
    const backup = write && changed ? writeWithBackup(context, { file, text, agents }) : undefined;
    changes.push({
      file,
      text,
      agents,
      written: write && changed,
      backup: file.text === undefined ? undefined : backup,
    });
  }
  if (changes.length === 0) return await sayNoAgents(context, files);
  if (isTransient(where.wrapper))
    terminal.note("this runs from the cache of npx, which may be emptied; install it first: npm install -g acp-skills");
  await report(context, changes);
  const isPending = changes.some(({ file, text, written }) => text !== file.text && !written);
  if (isPending) terminal.note(`nothing is written yet; to do it, repeat the command with --write`);
  else if (changes.some(({ written }) => written)) terminal.note(editor.next);
  return changes.every(({ agents }) => agents.every(({ outcome }) => outcome === "skipped")) ? exit.unable : exit.done;
}

/** Makes a backup, writes the file, and returns the path of the backup. If the file cannot be written, reverts the backup. */
function writeWithBackup(
  { name, where }: Context,
  { file, text, agents }: Plan & { readonly file: SettingsFile },
): string {
  const { backup, temporary, revert } = createBackup(defaultDataDirectory(where.home), {
    editor: name,
    file,
    text,
    agents,
  });
  try {
    writeSettingsFile(file, text, temporary);
  } catch (error) {
    revert();
    throw error;
  }
  return backup;
}

function notThere(name: string, editor: Editor, where: SetupEnvironment): SkillsError {
  const searched = (editor.marks?.(where) ?? editor.settingsFiles(where)).map((file) => homePath(file, where.home));
  const advice =
    editor.add === undefined
      ? "Install it and start it once."
      : `If it is installed, add an agent: acp-skills setup ${name} --write -- AGENT [ARG…]`;
  return new SkillsError(
    "UNREADABLE",
    `${editor.title} has no configuration here (looked for ${searched.join(", ")}). ${advice}`,
  );
}

/** The agent of the entry to paste. */
const usual: NewAgent = { name: undefined, words: ["npx", "-y", "@agentclientprotocol/claude-agent-acp"] };

async function sayNoAgents(
  { name, editor, where, terminal, json }: Context,
  files: readonly SettingsFile[],
): Promise<ExitCode> {
  const shown = files.map(({ file }) => homePath(file, where.home)).join(", ");
  const sample = editor.sample?.(usual, where);
  if (json) await terminal.printJson({ editor: name, files: [] });
  else if (sample !== undefined) await terminal.print([`${sample}\n`]);
  terminal.note(
    `${editor.title} has no agents in ${shown}${editor.add === undefined ? "" : `; above is an entry to paste. To add one: acp-skills setup ${name} --write -- AGENT [ARG…]`}`,
  );
  return exit.unable;
}

async function undo(context: Context): Promise<ExitCode> {
  const { name, editor, where, terminal } = context;
  const records = readRecords(defaultDataDirectory(where.home), name);
  if (records.length === 0) {
    const reason = `acp-skills setup ${name} --write has not changed anything here, or it has been undone`;
    throw new SkillsError("UNREADABLE", `There is nothing to undo: ${reason}.`);
  }
  const changes: SettingsFileChange[] = [];
  let isComplete = true;
  for (const record of records) {
    try {
      removeTemporaryFile(record);
      const { file, text, exact } = planUndo(editor, record, where);
      const { temporary } = record;
      if (text !== (file.text ?? null)) writeSettingsFile(file, text, temporary && path.basename(temporary));
      dropRecord(record);
      changes.push({ file, text, agents: [], written: true, backup: undefined, undone: exact ? "exactly" : "in part" });
    } catch (error) {
      if (!isSkillsError(error)) throw error;
      isComplete = false;
      terminal.note(...errorLines(error.message));
    }
  }
  await report(context, changes);
  return isComplete ? exit.done : exit.unable;
}

async function report({ name, terminal, json }: Context, changes: readonly SettingsFileChange[]): Promise<void> {
  if (json) await terminal.printJson({ editor: name, files: changes.map(toJson) });
  else await terminal.print(changes.flatMap((change) => [...describeChange(change, terminal)]));
}

/**
 * Plans the undoing of one change: the text to write, null to delete the file, and whether the text is exactly the original. Restores the
 * original if the file is as acp-skills left it. Otherwise removes only what starts agents through acp-skills. Throws UNREADABLE if
 * neither is possible.
 */
function planUndo(editor: Editor, record: SetupRecord, where: SetupEnvironment) {
  const file = readSettingsAt(record.place, where);
  const advice = record.existed ? `; what it was before is in ${record.backup}` : "";
  const { temporary = file.real } = record;
  if (path.dirname(temporary) !== path.dirname(file.real))
    throw new SkillsError("UNREADABLE", `${record.place} leads to ${file.real} now, which was not set up${advice}.`);
  // The file was changed back, or never changed.
  if (record.exact && isUntouched(record, file.text)) return { file, text: file.text ?? null, exact: true };
  if (file.text === undefined)
    throw new SkillsError("UNREADABLE", `${record.place} has been deleted, so there is nothing to undo${advice}.`);
  const before = record.exact && isOurs(record, file.text) ? textBefore(record) : undefined;
  if (before !== undefined) return { file, text: before, exact: true };
  const [mark, unmarked = ""] = withoutMark(file.text);
  const text = editor.takeOut(unmarked, record, where);
  if (text !== undefined) return { file, text: text === null ? null : mark + text, exact: false };
  const reason = "has been changed since, and what was set up is not in it any more, so there is nothing to undo";
  throw new SkillsError("UNREADABLE", `${record.place} ${reason}${advice}.`);
}
