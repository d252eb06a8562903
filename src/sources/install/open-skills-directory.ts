import { tmpdir } from "node:os";
import path from "node:path";
import { namesIn } from "../../base/paths/directories.ts";
import { sweepTemporaryDirectories } from "../../base/processes/temporary-directory.ts";
import {
  type EntryChange,
  type UnfinishedChange,
  isRecordedFor,
  stagingPrefix,
  unfinishedChanges,
} from "../lock/change-record.ts";
import { changeLock, readLock, sweepLock } from "../lock-file.ts";
import { toLockText } from "../lock/lock-text.ts";
import { type LockEntry, directoryName, emptyLock, withEntry } from "../lock.ts";
import { type SkillsPlace, findSkillsDirectory, shownSkillsDirectory } from "../skills-place.ts";
import { type LeftStaging, reopenStaging } from "../lock/staging.ts";
import { stateOf } from "../installed.ts";
import { writing } from "./replace-skills.ts";

/**
 * The real path of the directory of skills, for a command that changes it. What was interrupted is finished first: each skill that a record
 * of ours names is as it was, or installed and in the lock. Anything else that looks like it is left as it is, and reported.
 */
export async function recoverSkillsDirectory(
  where: SkillsPlace,
  report: (note: string) => void,
): Promise<string | undefined> {
  sweepTemporaryDirectories(tmpdir(), "add");
  // Before anything is changed: a damaged lock is the first to repair.
  readLock(where);
  const skills = findSkillsDirectory(where);
  for (const change of unfinishedChanges(where, Date.now(), report)) await finish(where, skills, change);
  for (const directory of foreignStagings(where, skills))
    report(`${directory} is left alone: nothing says that acp-skills made it here; remove it if you do not need it`);
  return skills;
}

async function finish(where: SkillsPlace, skills: string | undefined, change: UnfinishedChange): Promise<void> {
  await writing(where, () => sweepLock(where, change.id));
  const staging =
    skills === undefined || skills !== change.skills
      ? undefined
      : await writing(where, () => reopenStaging(skills, change));
  const left = staging === "foreign" ? undefined : staging;
  for (const one of change.changes)
    if (skills === change.skills) await settle(where, skills, { ...one, left, id: change.id });
  await writing(where, () => {
    left?.close();
    change.drop();
  });
}

interface Settling extends EntryChange {
  readonly left: LeftStaging | undefined;
  readonly id: string;
}

/** The lock says what counts: where it has what was there before, that is put back, or the new skill that is in its place is noted. */
async function settle(where: SkillsPlace, skills: string | undefined, settling: Settling): Promise<void> {
  const { key, before, after, left, id } = settling;
  const entry = readLock(where).entries.get(key);
  const is = (other: LockEntry | undefined): boolean => textOf(where, key, entry) === textOf(where, key, other);
  const name = directoryName(key);
  const found = left?.has(name);
  if (found?.here === false && found.old && (is(before) || (entry !== undefined && !is(after))))
    await writing(where, () => left?.putBack(name));
  if (after === undefined || found?.here !== true || found.new || !is(before) || is(after)) return;
  if ((await stateOf(skills, key, after)).state === "unchanged")
    await writing(where, () => changeLock(where, id, (lock) => withEntry(lock, key, after)));
}

function textOf({ form }: SkillsPlace, key: string, entry: LockEntry | undefined): string | undefined {
  return entry && toLockText(withEntry(emptyLock(form), key, entry));
}

/** Directories that look like those of a change, which no record of this user names here. */
function foreignStagings(where: SkillsPlace, skills = shownSkillsDirectory(where)): readonly string[] {
  const above = path.dirname(skills);
  return namesIn(above)
    .filter((name) => name.startsWith(stagingPrefix) && !isRecordedFor(where, name.slice(stagingPrefix.length)))
    .map((name) => path.join(above, name));
}
