import { isDeepStrictEqual } from "node:util";
import path from "node:path";
import { systemCode } from "../../base/failures/system-error.ts";
import { SkillsError, isSkillsError } from "../../base/errors.ts";
import {
  type EntryChange,
  type UnfinishedChange,
  createChangeRecord,
  isRecordedFor,
  stagingPrefix,
  unfinishedChanges,
} from "../lock/change-record.ts";
import { type Lock, type LockEntry, directoryName, hasSameFiles, knownOf, withEntry, withoutEntry } from "../lock.ts";
import { changeLock, readLock, sweepLock } from "../lock-file.ts";
import type { InstalledFiles } from "../lock/read-installed.ts";
import { type InstallScope, findSkillsDirectory, makeSkillsDirectory, shownSkillsDirectory } from "../install-scope.ts";
import { type LeftStaging, type Staging, openStaging, reopenStaging } from "../lock/staging.ts";
import type { SkillFile } from "../reader.ts";
import { namesIn } from "../../base/paths/directories.ts";
import { stateOf } from "../installed.ts";

/** A skill that replaces the files that were seen, with its lock entry. */
interface Replacement {
  readonly key: string;
  /** The new files; undefined if they are installed already. */
  readonly files: readonly SkillFile[] | undefined;
  readonly entry: LockEntry;
  /** The installed files when the user decided; undefined if there were none. */
  readonly seen: InstalledFiles | undefined;
}

/** Installs skills over this lock, one after the other. After a crash, `recoverSkillsDirectory` undoes or completes each change. */
export async function replaceSkills(
  scope: InstallScope,
  lock: Lock,
  replacements: readonly Replacement[],
): Promise<void> {
  const changes = replacements.map(({ key, entry }) => ({ key, before: lock.entries.get(key), after: entry }));
  await changing(scope, makeSkillsDirectory, changes, async (id, staging) => {
    for (const { key, files, entry, seen } of replacements) {
      const change = (): Promise<void> =>
        changeLock(scope, id, (now) =>
          isSameEntry(scope, now.entries.get(key), entry) ? now : withEntry(now, key, entry),
        );
      if (files === undefined) await change();
      else {
        staging?.write(directoryName(key), files);
        await swap(staging, scope, { key, seen, change });
      }
    }
  });
}

/** Removes skills and their entries from this lock. */
export async function removeSkills(
  scope: InstallScope,
  lock: Lock,
  removals: readonly Pick<Replacement, "key" | "seen">[],
): Promise<void> {
  const changes = removals.map(({ key }) => ({ key, before: lock.entries.get(key), after: undefined }));
  await changing(scope, findSkillsDirectory, changes, async (id, staging) => {
    for (const { key, seen } of removals)
      await swap(staging, scope, { key, seen, change: () => changeLock(scope, id, (now) => withoutEntry(now, key)) });
  });
}

/** Runs a change under a record, which exists from before the change until nothing is left to finish or remove, even after a failure. */
async function changing(
  scope: InstallScope,
  directoryOf: (scope: InstallScope) => string | undefined,
  changes: readonly EntryChange[],
  work: (id: string, staging: Staging | undefined) => Promise<void>,
): Promise<void> {
  await writing(scope, async () => {
    const skills = directoryOf(scope);
    const record = createChangeRecord(scope, { skills, changes });
    let staging: Staging | undefined;
    try {
      staging = skills === undefined ? undefined : openStaging(skills, record);
      await work(record.id, staging);
    } finally {
      staging?.close();
      record.drop();
    }
  });
}

/** Runs work that writes. Throws UNREADABLE instead of an error of the file system. */
async function writing<Result>(scope: InstallScope, work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const code = systemCode(error);
    if (isSkillsError(error) || code === "") throw error;
    const message = `${shownSkillsDirectory(scope)} or ${scope.lockFile} cannot be written (${code}): ${writeFix(code)}. acp-skills verify shows what is installed.`;
    throw new SkillsError("UNREADABLE", message, { cause: error });
  }
}

function writeFix(code: string): string {
  if (code === "ENOSPC" || code === "EDQUOT") return "free some space on its disk, then try again";
  if (code === "EROFS") return "its file system is read-only";
  return "make both and the directories they are in writable, then try again";
}

type Swap = Pick<Replacement, "key" | "seen"> & { readonly change: () => Promise<void> };

async function swap(staging: Staging | undefined, scope: InstallScope, { key, change, seen }: Swap): Promise<void> {
  const name = directoryName(key);
  const undo = staging === undefined ? () => undefined : staging.swap(name, (before) => isSame(before, seen));
  if (undo === undefined) {
    const message = `${shownSkillsDirectory(scope)}/${name} changed meanwhile; it is as it was. Try again.`;
    throw new SkillsError("SKILL_NOT_READY", message);
  }
  try {
    await change();
  } catch (error) {
    undo();
    throw error;
  }
}

function isSame(a: InstalledFiles | undefined, b: InstalledFiles | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return isDeepStrictEqual([...a.others].sort(), [...b.others].sort()) && hasSameFiles(a.files, b.files);
}

/**
 * Finishes interrupted changes, then returns the real path of the skills directory. Each skill that a record names is then as it was, or
 * installed and in the lock. Other directories that look like a staging are left alone and reported.
 */
export async function recoverSkillsDirectory(
  where: InstallScope,
  report: (note: string) => void,
): Promise<string | undefined> {
  // A damaged lock throws here, before anything is changed.
  readLock(where);
  const skills = findSkillsDirectory(where);
  for (const change of unfinishedChanges(where, Date.now(), report)) await finish(where, skills, change);
  for (const directory of foreignStagings(where, skills))
    report(`${directory} is left alone: nothing says that acp-skills made it here; remove it if you do not need it`);
  return skills;
}

async function finish(where: InstallScope, skills: string | undefined, change: UnfinishedChange): Promise<void> {
  await writing(where, () => sweepLock(where, change.id));
  const staging =
    skills === undefined || skills !== change.skills
      ? undefined
      : await writing(where, () => reopenStaging(skills, change));
  const left = staging === "foreign" ? undefined : staging;
  for (const one of change.changes)
    if (skills === change.skills) await complete(where, skills, { ...one, left, id: change.id });
  await writing(where, () => {
    left?.close();
    change.drop();
  });
}

type Settling = EntryChange & { readonly left: LeftStaging | undefined; readonly id: string };

/** Finishes one change. If the lock has the old entry, a missing skill is put back, and an installed new skill gets its entry. */
async function complete(where: InstallScope, skills: string | undefined, settling: Settling): Promise<void> {
  const { key, before, after, left, id } = settling;
  const entry = readLock(where).entries.get(key);
  const is = (other: LockEntry | undefined): boolean => isSameEntry(where, entry, other);
  const name = directoryName(key);
  const found = left?.has(name);
  if (found?.here === false && found.old && (is(before) || (entry !== undefined && !is(after))))
    await writing(where, () => left?.putBack(name));
  if (after === undefined || found?.here !== true || found.new || !is(before) || is(after)) return;
  if ((await stateOf(skills, key, after)).state === "unchanged")
    await writing(where, () => changeLock(where, id, (lock) => withEntry(lock, key, after)));
}

/** Whether two entries agree in all keys that acp-skills knows. */
function isSameEntry({ form }: InstallScope, one: LockEntry | undefined, other: LockEntry | undefined): boolean {
  return isDeepStrictEqual(one && knownOf(form, one), other && knownOf(form, other));
}

/** Lists directories with the name of a staging that no record of this user names here. */
function foreignStagings(where: InstallScope, skills = shownSkillsDirectory(where)): readonly string[] {
  const above = path.dirname(skills);
  return namesIn(above)
    .filter((name) => name.startsWith(stagingPrefix) && !isRecordedFor(where, name.slice(stagingPrefix.length)))
    .map((name) => path.join(above, name));
}
