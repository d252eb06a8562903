import { lstatSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { shortList } from "../../base/text/code-points.ts";
import { attempt, systemCode } from "../../base/failures/system-error.ts";
import { type DirectoryIdentity, directoryIdentityOf, isSameDirectory } from "../../base/paths/identity.ts";
import { makeOwnDirectories, ownershipFault, namesIn, syncDirectoryNow } from "../../base/paths/directories.ts";
import { isAbandoned, ownedName } from "../../base/processes/live-process.ts";
import { SkillsError, isSkillsError } from "../../base/errors.ts";
import type { LockEntry } from "../lock.ts";
import { type InstallScope, findSkillsDirectory } from "../install-scope.ts";

/** What becomes of one entry of a lock; undefined is no entry. */
export interface EntryChange {
  readonly key: string;
  readonly before: LockEntry | undefined;
  readonly after: LockEntry | undefined;
}

interface Recorded {
  readonly lockFile: string;
  /** The real path of the directory of skills; undefined if only the lock is changed. */
  readonly skills: string | undefined;
  readonly changes: readonly EntryChange[];
}

/** Says, outside of any project, what this process is changing in a place: only what a record names is finished or removed later. */
export interface ChangeRecord {
  /** Part of the names of everything that is written meanwhile. */
  readonly id: string;
  noteStaging(identity: DirectoryIdentity): void;
  drop(): void;
}

/** A change that a process did not finish. */
export interface UnfinishedChange extends Recorded {
  readonly id: string;
  /** Which directory it staged in; undefined if it was killed before anything was in there. */
  readonly staging: DirectoryIdentity | undefined;
  drop(): void;
}

/** The beginning of the name of a directory in which a change stages; its id follows. */
export const stagingPrefix = ".acp-skills-";
const suffix = ".jsonl";
const maxNamed = 5;

/** Durable when it returns. Throws UNREADABLE where the data directory cannot be used. */
export function createChangeRecord(
  { records, lockFile }: InstallScope,
  recorded: Omit<Recorded, "lockFile">,
): ChangeRecord {
  const id = ownedName();
  const file = path.join(records, id + suffix);
  try {
    makeOwnDirectories(records, 0o700);
    write(file, "wx", { ...recorded, lockFile });
    syncDirectoryNow(records);
  } catch (error) {
    if (systemCode(error) === "") throw error;
    const message = `${records} cannot be written (${systemCode(error)}): what is being changed is recorded there first. Make it writable, or set ACP_SKILLS_HOME to another directory.`;
    throw new SkillsError("UNREADABLE", message, { cause: error });
  }
  return { id, noteStaging: (identity) => write(file, "a", identity), drop: () => rmSync(file, { force: true }) };
}

function write(file: string, flag: "wx" | "a", value: object): void {
  writeFileSync(file, `${JSON.stringify(value)}\n`, { flag, mode: 0o600, flush: true });
}

/** The changes of a place whose processes were killed, also where the project was moved since. What cannot be read is reported. */
export function unfinishedChanges(
  scope: InstallScope,
  now: number,
  report: (note: string) => void = () => undefined,
): readonly UnfinishedChange[] {
  const { records, lockFile } = scope;
  return recordNames(records).flatMap((id) => {
    const file = path.join(records, id + suffix);
    try {
      if (!isAbandoned(id, () => statSync(file).mtimeMs, now)) return [];
      const drop = (): void => rmSync(file, { force: true });
      const found = readRecord(file);
      // Killed before it changed anything.
      if (found === undefined) drop();
      if (found?.lockFile === lockFile) return [{ ...found, id, drop }];
      const skills = found?.staging && findSkillsDirectory(scope);
      if (found === undefined || skills === undefined || !isStagedIn(skills, id, found.staging)) return [];
      return [{ ...found, lockFile, skills, id, drop }];
    } catch (error) {
      if (isSkillsError(error)) throw error;
      // Otherwise another process finished it.
      if (systemCode(error) !== "ENOENT") report(`${file} is damaged, and left alone: remove it`);
      return [];
    }
  });
}

/** Undefined for one that was not written whole. Throws for one that is damaged. */
function readRecord(file: string): (Recorded & Pick<UnfinishedChange, "staging">) | undefined {
  const [first, second] = readFileSync(file, "utf8").split("\n").slice(0, -1);
  if (first === undefined) return undefined;
  const recorded = JSON.parse(first) as Partial<Recorded>;
  if (recorded.lockFile === undefined || !Array.isArray(recorded.changes)) throw new TypeError("not a record");
  const staging = second === undefined ? undefined : (JSON.parse(second) as DirectoryIdentity);
  return { ...(recorded as Recorded), staging };
}

/** A link is none: it may lead to where the change is. */
function isStagedIn(skills: string, id: string, staging: DirectoryIdentity | undefined): boolean {
  const place = path.join(path.dirname(skills), stagingPrefix + id);
  const isDirectory = lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
  return isDirectory && isSameDirectory(directoryIdentityOf(place), staging);
}

/** Whether a record names a change of this place. */
export function isRecordedFor({ records, lockFile }: InstallScope, id: string): boolean {
  // Otherwise it is damaged, or there is none.
  return attempt(() => readRecord(path.join(records, id + suffix))?.lockFile === lockFile, false);
}

/** What was interrupted in a place and is not finished yet; a sentence, or undefined. */
export function unfinishedWords(where: InstallScope): string | undefined {
  const keys = unfinishedChanges(where, Date.now()).flatMap(({ changes }) => changes.map(({ key }) => key));
  if (keys.length === 0) return undefined;
  return `a change of ${shortList([...new Set(keys)], maxNamed)} was interrupted; the next acp-skills update, add or remove finishes it`;
}

/** The ids of all changes, also of those that are being made. */
export function recordNames(records: string): readonly string[] {
  const names = namesIn(records).filter((name) => name.endsWith(suffix));
  const fault = names.length === 0 ? undefined : ownershipFault(records);
  if (fault !== undefined) throw new SkillsError("UNREADABLE", `${records} is not used: ${fault}.`);
  return names.map((name) => name.slice(0, -suffix.length));
}
