import path from "node:path";
import { SkillsError } from "../../../base/errors.ts";
import type { Editor, SetupEnvironment } from "./editor.ts";
import { isOurs, isUntouched, textBefore } from "./records.ts";
import type { SetupRecord } from "./records.ts";
import { readPlace, withoutMark } from "./settings-file.ts";
import type { SettingsFile } from "./settings-file.ts";

/** What `--undo` makes of a file: null deletes it. */
export interface Undoing {
  readonly file: SettingsFile;
  readonly text: string | null;
  /** Whether this is exactly what there was, rather than what there is without us. */
  readonly exact: boolean;
}

/**
 * Restores what there was if the file is as we left it; otherwise only takes out what starts agents through acp-skills. Throws UNREADABLE
 * if neither is possible.
 */
export function planUndo(editor: Editor, record: SetupRecord, where: SetupEnvironment): Undoing {
  const file = readPlace(record.place, where);
  const kept = record.existed ? `; what it was before is in ${record.backup}` : "";
  const { temporary = file.real } = record;
  if (path.dirname(temporary) !== path.dirname(file.real))
    throw new SkillsError("UNREADABLE", `${record.place} leads to ${file.real} now, which was not set up${kept}.`);
  // It was changed back, or never changed.
  if (record.exact && isUntouched(record, file.text)) return { file, text: file.text ?? null, exact: true };
  if (file.text === undefined)
    throw new SkillsError("UNREADABLE", `${record.place} has been deleted, so there is nothing to undo${kept}.`);
  const before = record.exact && isOurs(record, file.text) ? textBefore(record) : undefined;
  if (before !== undefined) return { file, text: before, exact: true };
  const [mark, unmarked = ""] = withoutMark(file.text);
  const text = editor.takeOut(unmarked, record, where);
  if (text !== undefined) return { file, text: text === null ? null : mark + text, exact: false };
  const reason = "has been changed since, and what was set up is not in it any more, so there is nothing to undo";
  throw new SkillsError("UNREADABLE", `${record.place} ${reason}${kept}.`);
}
