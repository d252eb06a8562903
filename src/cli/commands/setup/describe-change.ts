import { unifiedDiff } from "../../../base/text/unified-diff.ts";
import { codeFrame } from "../../report/code-frame.ts";
import { paintDiffLine } from "../../report/paint-diff-line.ts";
import { safeText } from "../../report/safe-text.ts";
import { homePath } from "../../../base/paths/location.ts";
import type { Terminal } from "../../report/terminal.ts";
import type { PlannedAgent } from "./editor.ts";
import type { SettingsFile } from "./settings-file.ts";

/** A change of one file, made or to be made. Null is no file. */
export interface SettingsFileChange {
  readonly file: SettingsFile;
  readonly text: string | null;
  readonly agents: readonly PlannedAgent[];
  readonly written: boolean;
  readonly backup: string | undefined;
  readonly undone?: "exactly" | "in part";
}

const mostLines = 500;

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
  const place = safeText(homePath(file.place, home));
  const real = safeText(homePath(file.real, home));
  const shown = file.real === file.place ? place : `${place}, a link to ${real}`;
  const before = file.text ?? "";
  const after = text ?? "";
  if (before !== after) {
    yield `${paint("bold", `--- ${file.text === undefined ? "/dev/null" : shown}`)}\n`;
    yield `${paint("bold", `+++ ${text === null ? "/dev/null" : shown}`)}\n`;
    for (const line of unifiedDiff(before, after, mostLines)) yield `${paintDiffLine(line, paint)}\n`;
    yield "\n";
  }
  for (const { name, outcome, note } of agents) {
    const mark = outcome === "skipped" ? paint("yellow", "-") : paint("green", "✓");
    yield `${mark} ${safeText(name)} ${words[outcome]}${note === undefined ? "" : `: ${safeText(note)}`}\n`;
  }
  const target = file.real === file.place ? place : `${real}, to which ${place} is a link`;
  if (undone === "exactly" && before === after) yield `${target} is exactly as it was\n`;
  else if (undone !== undefined) yield `${text === null ? "deleted" : "restored"} ${target}${undoneWords[undone]}\n`;
  else if (written)
    yield `wrote ${target}${backup === undefined ? "" : `; backup: ${safeText(homePath(backup, home))}`}\n`;
}

const undoneWords = {
  exactly: ", exactly as it was",
  "in part": "; it was changed since, so only what starts agents through acp-skills was taken out",
} as const;

/** What `--json` prints about a file. */
export function toJson({ file, text, agents, written, backup, undone }: SettingsFileChange): object {
  return {
    file: file.place,
    ...(file.real !== file.place && { real: file.real }),
    changes: (file.text ?? null) !== text,
    written,
    ...(backup !== undefined && { backup }),
    ...(undone !== undefined && { undone }),
    agents: agents.map(({ name, outcome, note }) => ({ name, outcome, ...(note !== undefined && { note }) })),
    diff: unifiedDiff(file.text ?? "", text ?? "", mostLines),
  };
}

const usualColumns = 100;

/** The lines around a place, for stderr. */
export function frameOf(
  text: string,
  { line, column }: { readonly line: number; readonly column: number },
  { paint, columns = usualColumns }: Pick<Terminal, "paint" | "columns">,
): string {
  const lines = text.split(/\r\n?|\n/);
  const frame = codeFrame({ line, column, sourceLine: (number) => lines[number - 1] }, columns, paint);
  return frame.map((row) => `  ${row}\n`).join("");
}
