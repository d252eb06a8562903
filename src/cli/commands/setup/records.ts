import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { systemCode } from "../../../base/failures/system-code.ts";
import { makeOwnDirectories } from "../../../base/paths/make-directories.ts";
import type { PlannedAgent } from "./editor.ts";
import type { SettingsFile } from "./settings-file.ts";

/** What `setup --write` did to one file, so that it can be undone. */
const recordSchema = z.object({
  place: z.string(),
  /** Whether the file existed before. */
  existed: z.boolean(),
  /** SHA-256 of the text that was written. */
  after: z.string(),
  /** Whether the backup is the text before everything that we did. */
  exact: z.boolean(),
  wrapped: z.array(z.string()),
  added: z.array(z.string()),
});

export interface SetupRecord extends z.infer<typeof recordSchema> {
  /** The directory that contains this record and the backup. */
  readonly directory: string;
  readonly backup: string;
}

/** The records of an editor. Those that cannot be read are left out: their backups stay where they are. */
export function readRecords(data: string, editor: string): readonly SetupRecord[] {
  const all = path.join(data, "setup");
  const names = namesIn(all).filter((name) => new RegExp(`^${editor}-[0-9a-f]{12}$`).test(name));
  return names.flatMap((name) => {
    const found = recordIn(path.join(all, name));
    return found === undefined ? [] : [found];
  });
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).sort();
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}

function recordIn(directory: string): SetupRecord | undefined {
  try {
    const parsed = recordSchema.parse(JSON.parse(readFileSync(path.join(directory, "record.json"), "utf8")));
    return { ...parsed, directory, backup: path.join(directory, path.basename(parsed.place)) };
  } catch {
    // Half written, or of another version.
    return undefined;
  }
}

/** A backup that was made. */
export interface KeptRecord {
  readonly backup: string;
  /** Restores the record and the backup that there were before, because the file could not be written. */
  readonly revert: () => void;
}

/**
 * Makes a backup, readable for this user only because settings may contain keys. If the file is as the call before left it, the backup
 * of that call stays: it is the text before everything.
 */
export function keepRecord(
  data: string,
  { editor, file, text, agents }: { editor: string; file: SettingsFile; text: string; agents: readonly PlannedAgent[] },
): KeptRecord {
  const name = createHash("sha256").update(file.place).digest("hex").slice(0, 12);
  const directory = path.join(data, "setup", `${editor}-${name}`);
  const backup = path.join(directory, path.basename(file.place));
  const before = recordIn(directory);
  const continues = before !== undefined && file.text !== undefined && hashOf(file.text) === before.after;
  makeOwnDirectories(directory, 0o700);
  const kept = path.join(directory, "record.json");
  const earlier = [kept, backup].map((one) => [one, existsSync(one) ? readFileSync(one) : undefined] as const);
  if (!continues && file.text !== undefined) writeFileSync(backup, file.text, { mode: 0o600 });
  const keys = (...outcomes: readonly string[]): string[] =>
    agents.filter(({ outcome }) => outcomes.includes(outcome)).map(({ key }) => key);
  const record: z.infer<typeof recordSchema> = {
    place: file.place,
    existed: continues ? before.existed : file.text !== undefined,
    after: hashOf(text),
    exact: continues ? before.exact : before === undefined,
    wrapped: [...new Set([...(before?.wrapped ?? []), ...keys("wrap", "repair")])],
    added: [...new Set([...(before?.added ?? []), ...keys("add")])],
  };
  writeFileSync(kept, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  const revert = (): void => {
    for (const [one, bytes] of earlier)
      if (bytes === undefined) rmSync(one, { force: true });
      else writeFileSync(one, bytes, { mode: 0o600 });
  };
  return { backup, revert };
}

export function dropRecord({ directory }: SetupRecord): void {
  rmSync(directory, { recursive: true, force: true });
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The text before the change; null if there was no file. */
export function textBefore({ existed, backup }: SetupRecord): string | null {
  return existed ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(readFileSync(backup)) : null;
}
