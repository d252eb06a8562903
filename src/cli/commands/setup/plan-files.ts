import { homePath } from "../../../base/paths/location.ts";
import { SkillsError, isSkillsError } from "../../../base/errors.ts";
import { agentCommands } from "../../agent-commands.ts";
import type { Terminal } from "../../report/terminal.ts";
import { frameOf } from "./describe-change.ts";
import type { Editor, NewAgent, Plan, PlannedAgent, SetupEnvironment } from "./editor.ts";
import { type SettingsFile, readPlace, withoutMark } from "./settings-file.ts";

export interface Context {
  readonly name: string;
  readonly editor: Editor;
  readonly where: SetupEnvironment;
  readonly terminal: Terminal;
  readonly json: boolean;
}

/** The files to change: those that exist, or the first if it is to be created, or if an agent is added. */
export function settingsFilesOf(
  editor: Editor,
  where: SetupEnvironment,
  agent: NewAgent | undefined,
): readonly SettingsFile[] {
  const places = editor.places(where);
  const read = (place: string): SettingsFile => readPlace(place, where);
  const found = places.filter(where.exists);
  const first = found.length > 0 && editor.readsAll !== true ? found.slice(0, 1) : places.slice(0, 1);
  if (agent !== undefined || (found.length === 0 && isUsed(editor, where))) return first.map(read);
  return (editor.readsAll === true ? found : found.slice(0, 1)).map(read);
}

function isUsed(editor: Editor, where: SetupEnvironment): boolean {
  return editor.marks?.(where).some(where.exists) === true;
}

/** Adds the known agents that are here to an editor that has only its own; undefined if that is not to be done. */
export function planFound(context: Context): (Plan & { readonly file: SettingsFile }) | undefined {
  const { editor, where } = context;
  if (editor.hasDefaults !== true || !isUsed(editor, where)) return undefined;
  const [file] = editor
    .places(where)
    .slice(0, 1)
    .map((place) => readPlace(place, where));
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
    const place = `${homePath(file.place, where.home)}:${line}:${Number(column)}`;
    throw new SkillsError("UNREADABLE", `${place}: ${error.message}. Nothing was changed.`, { cause: error });
  }
}
