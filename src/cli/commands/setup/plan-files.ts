import { homePath } from "../../../base/paths/location.ts";
import { SkillsError, isSkillsError } from "../../../base/errors.ts";
import { agentCommands } from "../../agent-commands.ts";
import type { Terminal } from "../../report/terminal.ts";
import type { Editor, NewAgent, Plan, PlannedAgent, SetupEnvironment } from "./editor.ts";
import { type SettingsFile, readSettingsAt, withoutMark } from "./settings-file.ts";
import { unifiedDiff } from "../../../base/text/unified-diff.ts";
import { codeFrame } from "../../report/problem-report.ts";
import { fileDiff } from "../../report/file-diff.ts";
import { safeText } from "../../report/safe-text.ts";

export interface Context {
  readonly name: string;
  readonly editor: Editor;
  readonly where: SetupEnvironment;
  readonly terminal: Terminal;
  readonly json: boolean;
}

/** The files to change: existing ones, or the first one if it is to be created or an agent is added. */
export function settingsFilesOf(
  editor: Editor,
  where: SetupEnvironment,
  agent: NewAgent | undefined,
): readonly SettingsFile[] {
  const files = editor.settingsFiles(where);
  const read = (file: string): SettingsFile => readSettingsAt(file, where);
  const found = files.filter(where.exists);
  const first = found.length > 0 && editor.readsAll !== true ? found.slice(0, 1) : files.slice(0, 1);
  if (agent !== undefined || (found.length === 0 && isUsed(editor, where))) return first.map(read);
  return (editor.readsAll === true ? found : found.slice(0, 1)).map(read);
}

function isUsed(editor: Editor, where: SetupEnvironment): boolean {
  return editor.marks?.(where).some(where.exists) === true;
}

/** Plans to add the known agents on this machine to an editor that has only its own; undefined if there is nothing to add. */
export function planFound(context: Context): (Plan & { readonly file: SettingsFile }) | undefined {
  const { editor, where } = context;
  if (editor.hasDefaults !== true || !isUsed(editor, where)) return undefined;
  const [file] = editor
    .settingsFiles(where)
    .slice(0, 1)
    .map((file) => readSettingsAt(file, where));
  const agents: PlannedAgent[] = [];
  let text = file?.text;
  for (const [program, args] of agentCommands) {
    const command = where.find(program);
    if (file === undefined || command === undefined) continue;
    const plan = planFor(context, { ...file, text }, { name: undefined, words: [command, ...args] });
    text = plan.text;
    agents.push(...plan.agents.slice(-1));
  }
  return file === undefined || text === undefined || agents.length === 0 ? undefined : { file, text, agents };
}

export function planFor({ editor, where, terminal }: Context, file: SettingsFile, agent: NewAgent | undefined): Plan {
  const [mark, text] = withoutMark(file.text);
  try {
    const plan =
      agent === undefined || editor.add === undefined ? editor.plan(text, where) : editor.add(text, agent, where);
    return { ...plan, text: mark + plan.text };
  } catch (error) {
    if (!isSkillsError(error) || error.code !== "UNREADABLE" || typeof error.facts["line"] !== "number") throw error;
    const { line, column } = error.facts;
    terminal.echo(frameOf(text ?? "", { line, column: Number(column) }, terminal));
    const position = `${homePath(file.file, where.home)}:${line}:${Number(column)}`;
    throw new SkillsError("UNREADABLE", `${position}: ${error.message}. Nothing was changed.`, { cause: error });
  }
}

/** A change of one file, made or planned. A `text` of null deletes the file. */
export interface SettingsFileChange {
  readonly file: SettingsFile;
  readonly text: string | null;
  readonly agents: readonly PlannedAgent[];
  readonly written: boolean;
  readonly backup: string | undefined;
  readonly undone?: "exactly" | "in part";
}

const maxLines = 500;

const words = {
  wrap: "is started through acp-skills",
  repair: "is started through acp-skills again; its paths do not exist any more",
  add: "is added",
  wrapped: "is started through acp-skills already",
  skipped: "is left alone",
} as const satisfies Record<PlannedAgent["outcome"], string>;

export function* describeChange(
  { file, text, agents, written, backup, undone }: SettingsFileChange,
  { paint, home }: Pick<Terminal, "paint" | "home">,
): Generator<string, void> {
  const shownFile = safeText(homePath(file.file, home));
  const real = safeText(homePath(file.real, home));
  const shown = file.real === file.file ? shownFile : `${shownFile}, a link to ${real}`;
  const before = file.text ?? "";
  const after = text ?? "";
  if (before !== after) {
    yield* fileDiff({ name: shown, before: file.text ?? null, after: text, maxLines }, paint);
    yield "\n";
  }
  for (const { name, outcome, note } of agents) {
    const mark = outcome === "skipped" ? paint("yellow", "-") : paint("green", "✓");
    yield `${mark} ${safeText(name)} ${words[outcome]}${note === undefined ? "" : `: ${safeText(note)}`}\n`;
  }
  const target = file.real === file.file ? shownFile : `${real}, to which ${shownFile} is a link`;
  if (undone === "exactly" && before === after) yield `${target} is exactly as it was\n`;
  else if (undone !== undefined) yield `${text === null ? "deleted" : "restored"} ${target}${undoneWords[undone]}\n`;
  else if (written)
    yield `wrote ${target}${backup === undefined ? "" : `; backup: ${safeText(homePath(backup, home))}`}\n`;
}

const undoneWords = {
  exactly: ", exactly as it was",
  "in part": "; it was changed since, so only what starts agents through acp-skills was taken out",
} as const;

/** The `--json` output for a file. */
export function toJson({ file, text, agents, written, backup, undone }: SettingsFileChange): object {
  return {
    file: file.file,
    ...(file.real !== file.file && { real: file.real }),
    changes: (file.text ?? null) !== text,
    written,
    ...(backup !== undefined && { backup }),
    ...(undone !== undefined && { undone }),
    agents: agents.map(({ name, outcome, note }) => ({ name, outcome, ...(note !== undefined && { note }) })),
    diff: unifiedDiff(file.text ?? "", text ?? "", maxLines),
  };
}

const usualColumns = 100;

/** The lines around a position, for stderr. */
function frameOf(
  text: string,
  { line, column }: { readonly line: number; readonly column: number },
  { paint, columns = usualColumns }: Pick<Terminal, "paint" | "columns">,
): string {
  const lines = text.split(/\r\n?|\n/);
  const frame = codeFrame({ line, column, sourceLine: (number) => lines[number - 1] }, columns, paint);
  return frame.map((row) => `  ${row}\n`).join("");
}
