import { randomInt } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { SandboxRun } from "../sandbox.ts";

const firstFree = 0x7000_0000;
const countFree = 0x0fff_0000;

export interface SandboxUser {
  /** `undefined`: ourselves, who are not root. */
  readonly id: number | undefined;
  /** The project is root's alone: it must be shown as this user's. */
  readonly isLent: boolean;
}

export interface Refusal {
  readonly refusal: string;
}

/**
 * An id that belongs to nobody, another one for each sandbox, so that limits of the kernel count it alone and no file is its
 * own.
 */
function takeFreeUser(isLent = false): SandboxUser | Refusal {
  const highest = highestUser();
  if (highest < 2) return { refusal: "Nothing is run as root, and no other user is known here." };
  if (highest >= firstFree + countFree) return { id: randomInt(firstFree, firstFree + countFree), isLent };
  // In a container that knows few ids, the last ones of them.
  return { id: randomInt(Math.max(1, highest - 4_000), highest), isLent };
}

/**
 * Who runs what uses this directory of the user's, if any: ourselves, unless we are root. As root it is nobody in particular,
 * or the owner of a directory that others may not use so, and never root: many settings of the kernel are files that trust
 * root's id, whatever rights it has given up.
 */
export function chooseUser(project: SandboxRun["project"]): SandboxUser | Refusal {
  if (process.getuid?.() !== 0) return { id: undefined, isLent: false };
  if (project === undefined) return takeFreeUser();
  const found = statSync(project.directory, { throwIfNoEntry: false });
  if (found === undefined) return { refusal: `There is no directory ${project.directory}.` };
  if (!project.writable && everyoneMayEnter(project.directory)) return takeFreeUser();
  return found.uid === 0 ? takeFreeUser(true) : { id: found.uid, isLent: false };
}

/** Whether the rights of others suffice to reach and list a directory, or to reach and run a program. */
export function everyoneMayEnter(directory: string): boolean {
  if ((statSync(directory).mode & 0o005) !== 0o005) return false;
  for (let at = directory; at !== dirname(at); at = dirname(at)) {
    if ((statSync(dirname(at)).mode & 0o001) === 0) return false;
  }
  return true;
}

function highestUser(): number {
  try {
    const ranges = readFileSync("/proc/self/uid_map", "utf8").trim().split("\n");
    return Math.max(
      ...ranges
        .map((range) => range.trim().split(/\s+/).map(Number))
        .map(([first = 0, , count = 0]) => first + count - 1),
    );
  } catch {
    return 0xffff; // Where nobody says, ids of two bytes are known.
  }
}
