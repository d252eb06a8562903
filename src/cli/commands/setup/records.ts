import { hash } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { attempt } from "../../../base/failures/system-error.ts";
import { makeOwnDirectories, namesIn } from "../../../base/paths/directories.ts";
import type { PlannedAgent } from "./editor.ts";
import type { SettingsFile } from "./settings-file.ts";
import { temporaryOf } from "../../../base/paths/replace-file.ts";

/** The record of what `setup --write` does to one file, written before the change, so that it can always be undone. */
const recordSchema = z.object({
  place: z.string(),
  /** Whether the file existed before. */
  existed: z.boolean(),
  /** SHA-256 of the text before; absent if there was no file, and in records of older versions. */
  before: z.string().exactOptional(),
  /** SHA-256 of the text that is written; `earlier`: of the texts that earlier calls wrote. */
  after: z.string(),
  earlier: z.array(z.string()).default([]),
  /** The path of the temporary file, written first beside the file. */
  temporary: z.string().exactOptional(),
  /** Whether the backup is the text before every change of acp-skills. */
  exact: z.boolean(),
  wrapped: z.array(z.string()),
  added: z.array(z.string()),
});

export interface SetupRecord extends z.infer<typeof recordSchema> {
  /** The directory that contains this record and the backup. */
  readonly directory: string;
  readonly backup: string;
}

/**
 * Reads the records of an editor. Unreadable records are omitted, and their backups stay. Removes directories without a record, left by a
 * process that was killed before it changed anything.
 */
export function readRecords(data: string, editor: string): readonly SetupRecord[] {
  const all = path.join(data, "setup");
  const names = [...namesIn(all)].sort().filter((name) => new RegExp(`^${editor}-[0-9a-f]{12}$`).test(name));
  return names.flatMap((name) => {
    const directory = path.join(all, name);
    if (!existsSync(path.join(directory, recordName))) rmSync(directory, { recursive: true, force: true });
    return recordIn(directory) ?? [];
  });
}

const recordName = "record.json";

function recordIn(directory: string): SetupRecord | undefined {
  // Undefined for a missing record, or one of another version.
  return attempt(() => {
    const parsed = recordSchema.parse(JSON.parse(readFileSync(path.join(directory, recordName), "utf8")));
    return { ...parsed, directory, backup: path.join(directory, path.basename(parsed.place)) };
  }, undefined);
}

/** A backup that was made. */
export interface BackupRecord {
  readonly backup: string;
  /** The name of the temporary file, written first beside the file. */
  readonly temporary: string;
  /** Restores the earlier record and backup, because the file could not be written. */
  readonly revert: () => void;
}

/** Removes the temporary file of a killed process. */
export function removeTemporaryFile({ temporary }: SetupRecord): void {
  if (temporary !== undefined) rmSync(temporary, { force: true });
}

/** Replaces a file so that a reader finds the old bytes or the new ones, also after a crash. */
function replaceOwn(file: string, bytes: string | Uint8Array): void {
  writeFileSync(`${file}.new`, bytes, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}

/**
 * Makes a backup that only this user can read, because settings may contain keys. If the file is as the previous call left it, the backup
 * of that call stays: it is the original text.
 */
export function createBackup(
  data: string,
  { editor, file, text, agents }: { editor: string; file: SettingsFile; text: string; agents: readonly PlannedAgent[] },
): BackupRecord {
  const name = hash("sha256", file.file).slice(0, 12);
  const directory = path.join(data, "setup", `${editor}-${name}`);
  const backup = path.join(directory, path.basename(file.file));
  const found = recordIn(directory);
  if (found !== undefined) removeTemporaryFile(found);
  // The record of a call that was killed before it changed anything does not count.
  const before = found?.exact === true && isUntouched(found, file.text) ? undefined : found;
  const continues = before !== undefined && isOurs(before, file.text);
  makeOwnDirectories(directory, 0o700);
  const recordFile = path.join(directory, recordName);
  const earlier = [recordFile, backup].map((one) => [one, existsSync(one) ? readFileSync(one) : undefined] as const);
  if (!continues && file.text !== undefined) replaceOwn(backup, file.text);
  const keys = (...outcomes: readonly string[]): string[] =>
    agents.filter(({ outcome }) => outcomes.includes(outcome)).map(({ key }) => key);
  const temporary = temporaryOf(file.real);
  const known = continues ? before.before : file.text === undefined ? undefined : hash("sha256", file.text);
  const record: z.infer<typeof recordSchema> = {
    place: file.file,
    existed: continues ? before.existed : file.text !== undefined,
    ...(known !== undefined && { before: known }),
    after: hash("sha256", text),
    earlier: continues ? [...before.earlier, before.after] : [],
    temporary: path.join(path.dirname(file.real), temporary),
    exact: continues ? before.exact : before === undefined,
    wrapped: [...new Set([...(before?.wrapped ?? []), ...keys("wrap", "repair")])],
    added: [...new Set([...(before?.added ?? []), ...keys("add")])],
  };
  replaceOwn(recordFile, `${JSON.stringify(record, null, 2)}\n`);
  const revert = (): void => {
    for (const [one, bytes] of earlier)
      if (bytes === undefined) rmSync(one, { force: true });
      else replaceOwn(one, bytes);
  };
  return { backup, temporary, revert };
}

/** Removes a record, its backup first: without a record, nobody would find the backup. */
export function dropRecord({ directory, backup }: SetupRecord): void {
  rmSync(backup, { force: true });
  rmSync(directory, { recursive: true, force: true });
}

/** Whether a file is as it was before the change. */
export function isUntouched({ existed, before }: SetupRecord, text: string | undefined): boolean {
  return existed ? text !== undefined && hash("sha256", text) === before : text === undefined;
}

/** Whether a file is as acp-skills wrote it. */
export function isOurs({ after, earlier }: SetupRecord, text: string | undefined): boolean {
  return text !== undefined && [after, ...earlier].includes(hash("sha256", text));
}

/** The text before the change; null if there was no file. Undefined if the backup is of another change, or is gone. */
export function textBefore({ existed, backup, before }: SetupRecord): string | null | undefined {
  if (!existed) return null;
  if (!existsSync(backup)) return undefined;
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(readFileSync(backup));
  return before === undefined || hash("sha256", text) === before ? text : undefined;
}
