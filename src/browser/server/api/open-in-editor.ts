import { launchProgram } from "../../../base/processes/spawn-process.ts";
import type { OpenFile } from "../../wire/skills.ts";

/** A position in a file. */
export interface FilePosition extends Omit<OpenFile, "path"> {
  /** Absolute real path. */
  readonly file: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Editors with a window of their own, and the arguments that open a file at a position. */
const editors: readonly (readonly [programs: string, args: string])[] = [
  ["code code-insiders codium cursor windsurf", "-g FILE:LINE:COLUMN"],
  ["zed zeditor subl", "FILE:LINE:COLUMN"],
  ["idea pycharm webstorm goland rustrover phpstorm clion rider", "--line LINE --column COLUMN FILE"],
  ["gvim", "+LINE FILE"],
  ["mate", "-l LINE FILE"],
  ["kate", "-l LINE -c COLUMN FILE"],
  ["gedit", "+LINE:COLUMN FILE"],
];

const advice =
  "Set ACP_SKILLS_EDITOR to an editor with a window, such as code or zed, and start acp-skills browse again.";

/**
 * The program and its arguments: `$ACP_SKILLS_EDITOR`, whatever it is; else `$VISUAL` or `$EDITOR` if it is known to open a window,
 * because other editors need a terminal. Undefined if no variable names such an editor.
 */
export function editorCommand(at: FilePosition, env: Environment): readonly [string, ...string[]] | undefined {
  const { file, line = 1, column = 1 } = at;
  for (const name of ["ACP_SKILLS_EDITOR", "VISUAL", "EDITOR"]) {
    const [program = "", ...given] = (env[name] ?? "").trim().split(/\s+/);
    const base = program.replace(/^.*[/\\]/, "").replace(/\.(?:exe|cmd)$/i, "");
    const [, known] = editors.find(([programs]) => programs.split(" ").includes(base)) ?? [];
    const args = known ?? (name === "ACP_SKILLS_EDITOR" ? "FILE" : undefined);
    if (program === "" || args === undefined) continue;
    // Options to wait are for commit messages.
    const options = given.filter((argument) => argument !== "--wait" && argument !== "-w");
    const values: Readonly<Record<string, string>> = { FILE: file, LINE: String(line), COLUMN: String(column) };
    const fill = (argument: string): string => argument.replace(/[A-Z]{2,}/g, (value) => values[value] ?? value);
    return [program, ...options, ...args.split(" ").map(fill)];
  }
  return undefined;
}

/** Opens a file in the user's editor, without a shell. Resolves with a sentence about the fault if that is not possible. */
export async function openInEditor(at: FilePosition, env: Environment = process.env): Promise<string | undefined> {
  const command = editorCommand(at, env);
  if (command === undefined) return `No editor with a window is set. ${advice}`;
  const [program, ...args] = command;
  const fault = await launchProgram(program, args, 0);
  return fault && `The editor ${program} ${fault}. ${advice}`;
}
