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

/** The change of one lock entry; undefined means no entry. */
export interface EntryChange {
  readonly key: string;
  readonly before: LockEntry | undefined;
  readonly after: LockEntry | undefined;
}

interface Recorded {
  readonly lockFile: string;
  /** The real path of the skills directory; undefined if only the lock is changed. */
  readonly skills: string | undefined;
  readonly changes: readonly EntryChange[];
}

/** A record, outside any project, of a change by this process: only recorded changes are finished or removed later. */
export interface ChangeRecord {
  /** The id of the change, which is in the names of its temporary files and directories. */
  readonly id: string;
  noteStaging(identity: DirectoryIdentity): void;
  drop(): void;
}

/** A change that a process did not finish. */
export interface UnfinishedChange extends Recorded {
  readonly id: string;
  /** The identity of the staging directory; undefined if the process was killed before anything was in it. */
  readonly staging: DirectoryIdentity | undefined;
  drop(): void;
}

/** The prefix of the name of a staging directory; the id of the change follows. */
export const stagingPrefix = ".acp-skills-";
const suffix = ".jsonl";
const maxNamed = 5;

/** Creates a record, which is durable on return. Throws UNREADABLE if the data directory cannot be used. */
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

/** Returns the changes of a scope whose processes were killed, also if the project was moved since. Damaged records are reported. */
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
      // The process was killed before it changed anything.
      if (found === undefined) drop();
      if (found?.lockFile === lockFile) return [{ ...found, id, drop }];
      const skills = found?.staging && findSkillsDirectory(scope);
      if (found === undefined || skills === undefined || !isStagedIn(skills, id, found.staging)) return [];
      return [{ ...found, lockFile, skills, id, drop }];
    } catch (error) {
      if (isSkillsError(error)) throw error;
      // A missing record was finished by another process.
      if (systemCode(error) !== "ENOENT") report(`${file} is damaged, and left alone: remove it`);
      return [];
    }
  });
}

/** Reads a record; undefined if it was not written completely. Throws if it is damaged. */
function readRecord(file: string): (Recorded & Pick<UnfinishedChange, "staging">) | undefined {
  const [first, second] = readFileSync(file, "utf8").split("\n").slice(0, -1);
  if (first === undefined) return undefined;
  const recorded = JSON.parse(first) as Partial<Recorded>;
  if (recorded.lockFile === undefined || !Array.isArray(recorded.changes)) throw new TypeError("not a record");
  const staging = second === undefined ? undefined : (JSON.parse(second) as DirectoryIdentity);
  return { ...(recorded as Recorded), staging };
}

/** Whether the staging of a change is beside a skills directory. A link does not count: it may lead to the staging elsewhere. */
function isStagedIn(skills: string, id: string, staging: DirectoryIdentity | undefined): boolean {
  const directory = path.join(path.dirname(skills), stagingPrefix + id);
  const isDirectory = lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() === true;
  return isDirectory && isSameDirectory(directoryIdentityOf(directory), staging);
}

/** Whether a record names a change of this scope. */
export function isRecordedFor({ records, lockFile }: InstallScope, id: string): boolean {
  // A damaged or missing record names none.
  return attempt(() => readRecord(path.join(records, id + suffix))?.lockFile === lockFile, false);
}

/** Describes the interrupted changes of a scope in a sentence; undefined if there are none. */
export function unfinishedWords(where: InstallScope): string | undefined {
  const keys = unfinishedChanges(where, Date.now()).flatMap(({ changes }) => changes.map(({ key }) => key));
  if (keys.length === 0) return undefined;
  return `a change of ${shortList([...new Set(keys)], maxNamed)} was interrupted; the next acp-skills update, add or remove finishes it`;
}

/** Returns the ids of all changes, including running ones. */
export function recordNames(records: string): readonly string[] {
  const names = namesIn(records).filter((name) => name.endsWith(suffix));
  const fault = names.length === 0 ? undefined : ownershipFault(records);
  if (fault !== undefined) throw new SkillsError("UNREADABLE", `${records} is not used: ${fault}.`);
  return names.map((name) => name.slice(0, -suffix.length));
}
