import { isDeepStrictEqual } from "node:util";
import { systemCode } from "../base/failures/system-code.ts";
import { isSkillsError, SkillsError } from "../errors.ts";
import { hasSameFiles } from "../remote/lock/compare-files.ts";
import { changeLock } from "../remote/lock/lock-file.ts";
import { directoryName, withEntry, withoutEntry } from "../remote/lock/lock.ts";
import type { Lock, LockEntry } from "../remote/lock/lock.ts";
import type { InstalledFiles } from "../remote/lock/read-installed.ts";
import { makeSkillsDirectory, shownSkillsDirectory } from "../remote/lock/skills-place.ts";
import type { SkillsPlace } from "../remote/lock/skills-place.ts";
import { openStaging } from "../remote/lock/staging.ts";
import type { Staging } from "../remote/lock/staging.ts";
import type { SkillFile } from "../remote/skill-bytes.ts";

/** A skill that is put in the place of what was seen there. */
export interface Replacement {
  readonly key: string;
  readonly files: readonly SkillFile[];
  readonly entry: LockEntry;
  /** What was there when the person decided. */
  readonly seen: InstalledFiles | undefined;
}

/** Where a skill with these bytes is already, only the lock is written. */
export function adoptSkill(place: SkillsPlace, { key, entry }: Pick<Replacement, "key" | "entry">): void {
  writing(place, () => changeLock(place, (lock) => withEntry(lock, key, entry)));
}

/** Installs skills, one after the other, each with its entry in the lock; a crash leaves each as it was or as it is to be. */
export function replaceSkills(place: SkillsPlace, replacements: readonly Replacement[]): void {
  writing(place, () => {
    const staging = openStaging(makeSkillsDirectory(place));
    try {
      for (const { key, files, entry, seen } of replacements) {
        staging.write(directoryName(key), files);
        swap(staging, place, { key, seen, change: (lock) => withEntry(lock, key, entry) });
      }
    } finally {
      staging.close();
    }
  });
}

/** Removes skills and their entries; `skills` is the directory of skills. */
export function removeSkills(
  place: SkillsPlace,
  skills: string | undefined,
  removals: readonly Pick<Replacement, "key" | "seen">[],
): void {
  writing(place, () => {
    const staging = skills === undefined ? undefined : openStaging(skills);
    try {
      for (const { key, seen } of removals) {
        const change = (lock: Lock): Lock => withoutEntry(lock, key);
        if (staging === undefined) changeLock(place, change);
        else swap(staging, place, { key, seen, change });
      }
    } finally {
      staging?.close();
    }
  });
}

/** Throws UNREADABLE where the disk refuses, instead of its error. */
export function writing(place: SkillsPlace, work: () => void): void {
  try {
    work();
  } catch (error) {
    const code = systemCode(error);
    if (isSkillsError(error) || code === "") throw error;
    const message = `${shownSkillsDirectory(place)} or ${place.lockFile} cannot be written (${code}): ${writeFix(code)}. acp-skills verify shows what is installed.`;
    throw new SkillsError("UNREADABLE", message, { cause: error });
  }
}

function writeFix(code: string): string {
  if (code === "ENOSPC" || code === "EDQUOT") return "free some space on its disk, then try again";
  if (code === "EROFS") return "its file system is read-only";
  return "make both and the directories they are in writable, then try again";
}

interface Swap {
  readonly key: string;
  readonly change: (lock: Lock) => Lock;
  readonly seen: InstalledFiles | undefined;
}

function swap(staging: Staging, place: SkillsPlace, given: Swap): void {
  const name = directoryName(given.key);
  const undo = staging.swap(name, (before) => isSame(before, given.seen));
  if (undo === undefined) {
    const message = `${shownSkillsDirectory(place)}/${name} changed meanwhile; it is as it was. Try again.`;
    throw new SkillsError("SKILL_NOT_READY", message);
  }
  try {
    changeLock(place, given.change);
  } catch (error) {
    undo();
    throw error;
  }
}

function isSame(a: InstalledFiles | undefined, b: InstalledFiles | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return isDeepStrictEqual([...a.others].sort(), [...b.others].sort()) && hasSameFiles(a.files, b.files);
}
