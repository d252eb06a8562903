import { nearest } from "../../../base/text/nearest.ts";
import { oneOf } from "../../arguments/values.ts";
import { usageError } from "../../command.ts";
import type { Editor } from "./editor.ts";
import { acpx, jetbrains, vscode, zed } from "./editors/json-editors.ts";
import { agentShell, agentic, avante, codecompanion } from "./editors/program-editors.ts";

/** The editors by name. A new one is a row here, and a value of `editors/`. The plugin of Obsidian writes its settings itself. */
const editors = {
  zed,
  jetbrains,
  codecompanion,
  avante,
  agentic,
  "agent-shell": agentShell,
  vscode,
  obsidian: undefined,
  acpx,
} satisfies Readonly<Record<string, Editor | undefined>>;

export const editorNames = Object.keys(editors) as readonly (keyof typeof editors)[];

/** Alternative names of editors. */
const aliases: Readonly<Record<string, keyof typeof editors>> = {
  neovim: "codecompanion",
  nvim: "codecompanion",
  emacs: "agent-shell",
  intellij: "jetbrains",
  pycharm: "jetbrains",
  webstorm: "jetbrains",
  code: "vscode",
  "code-server": "vscode",
  codium: "vscode",
  cursor: "vscode",
  windsurf: "vscode",
};

/** The editor of a name; undefined for Obsidian. Throws INVALID_OPTIONS for an unknown name. */
export function editorNamed(name: string): Editor | undefined {
  const known = editorNames.find((one) => one === name);
  if (known !== undefined) return editors[known];
  const [close] = nearest(name, editorNames);
  const meant = aliases[name.toLowerCase()] ?? close;
  throw usageError(
    `unknown editor ${name}; ${meant === undefined ? `known are ${oneOf(editorNames).replace(/ or /, " and ")}` : `did you mean ${meant}?`}`,
  );
}
