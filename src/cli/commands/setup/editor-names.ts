/** The editors that `setup` knows, apart from what it knows about them: completion needs the names only. */
export const editorNames = [
  "zed",
  "jetbrains",
  "codecompanion",
  "avante",
  "agentic",
  "agent-shell",
  "vscode",
  "obsidian",
  "acpx",
] as const;

export type EditorName = (typeof editorNames)[number];
