import { spawn } from "node:child_process";
import { systemCode } from "../../../base/failures/system-error.ts";

/** A place in a file. */
export interface EditedPlace {
  /** Absolute real path. */
  readonly file: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

const goto = ({ file, line = 1, column = 1 }: EditedPlace): readonly string[] => ["-g", `${file}:${line}:${column}`];
const suffixed = ({ file, line = 1, column = 1 }: EditedPlace): readonly string[] => [`${file}:${line}:${column}`];
const jetbrains = ({ file, line = 1, column = 1 }: EditedPlace): readonly string[] => [
  ...["--line", String(line), "--column", String(column)],
  file,
];
const plain = ({ file }: EditedPlace): readonly string[] => [file];

/** Editors with a window of their own, and the arguments that open a place. */
const editors: Readonly<Record<string, (place: EditedPlace) => readonly string[]>> = {
  ...Object.fromEntries(["code", "code-insiders", "codium", "cursor", "windsurf"].map((name) => [name, goto])),
  ...Object.fromEntries(["zed", "zeditor", "subl"].map((name) => [name, suffixed])),
  ...Object.fromEntries(
    ["idea", "pycharm", "webstorm", "goland", "rustrover", "phpstorm", "clion", "rider"].map((name) => [
      name,
      jetbrains,
    ]),
  ),
  gvim: ({ file, line = 1 }) => [`+${line}`, file],
  mate: ({ file, line = 1 }) => ["-l", String(line), file],
  kate: ({ file, line = 1, column = 1 }) => ["-l", String(line), "-c", String(column), file],
  gedit: ({ file, line = 1, column = 1 }) => [`+${line}:${column}`, file],
};

const advice =
  "Set ACP_SKILLS_EDITOR to an editor with a window, such as code, zed or idea, and start acp-skills browse again.";

/**
 * The program and its arguments: that of `$ACP_SKILLS_EDITOR`, whatever it is; else that of `$VISUAL` or `$EDITOR` if it is known to open a
 * window, because there is no terminal for others. Undefined if there is none.
 */
export function editorCommand(place: EditedPlace, env: Environment): readonly [string, ...string[]] | undefined {
  for (const name of ["ACP_SKILLS_EDITOR", "VISUAL", "EDITOR"]) {
    const [program = "", ...given] = (env[name] ?? "").trim().split(/\s+/);
    const base = program.replace(/^.*[/\\]/, "").replace(/\.(?:exe|cmd)$/i, "");
    const toArguments = Object.hasOwn(editors, base) ? editors[base] : name === "ACP_SKILLS_EDITOR" ? plain : undefined;
    if (program === "" || toArguments === undefined) continue;
    // Waiting is for those who edit a commit message.
    const options = given.filter((argument) => argument !== "--wait" && argument !== "-w");
    return [program, ...options, ...toArguments(place)];
  }
  return undefined;
}

/** Opens a file in the person's editor, without a shell. Resolves with a sentence if that is not possible. */
export async function openInEditor(place: EditedPlace, env: Environment = process.env): Promise<string | undefined> {
  const command = editorCommand(place, env);
  if (command === undefined) return `No editor with a window is set. ${advice}`;
  const [program, ...args] = command;
  return await new Promise((resolve) => {
    const child = spawn(program, args, { stdio: "ignore", detached: true, windowsHide: true });
    child.once("spawn", () => resolve(undefined));
    child.once("error", (error) => {
      const why = systemCode(error) === "ENOENT" ? "is not installed" : `cannot be started (${systemCode(error)})`;
      resolve(`The editor ${program} ${why}. ${advice}`);
    });
    child.unref();
  });
}
