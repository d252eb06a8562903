import { randomInt } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { SandboxRun } from "../sandbox.ts";

const firstFree = 0x7000_0000;
const countFree = 0x0fff_0000;

export interface SandboxUser {
  /** `undefined`: the user of this process, which is not root. */
  readonly id: number | undefined;
  /** Only root can use the project: it must be mounted as if it were this user's. */
  readonly isLent: boolean;
}

export interface Refusal {
  readonly refusal: string;
}

/**
 * An unused id, a different one for each sandbox: no file belongs to it, and per-user limits of the kernel count only that sandbox.
 */
function takeFreeUser(isLent = false): SandboxUser | Refusal {
  const highest = highestUser();
  if (highest < 2) return { refusal: "Sandboxes do not run as root, and this user namespace has no other user id." };
  if (highest >= firstFree + countFree) return { id: randomInt(firstFree, firstFree + countFree), isLent };
  // A container with few ids: the last ones.
  return { id: randomInt(Math.max(1, highest - 4_000), highest), isLent };
}

/**
 * The user a sandbox runs as: that of this process, unless it is root. For root, an unused id, or the owner of a project that other
 * users may not use. Never root: the kernel lets uid 0 change many settings even without capabilities.
 */
export function chooseUser(project: SandboxRun["project"]): SandboxUser | Refusal {
  if (process.getuid?.() !== 0) return { id: undefined, isLent: false };
  if (project === undefined) return takeFreeUser();
  const found = statSync(project.directory, { throwIfNoEntry: false });
  if (found === undefined) return { refusal: `The project directory ${project.directory} does not exist.` };
  if (!project.writable && everyoneMayEnter(project.directory)) return takeFreeUser();
  return found.uid === 0 ? takeFreeUser(true) : { id: found.uid, isLent: false };
}

/** Whether every user can enter and list a directory, or reach and execute a program. */
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
    return 0xffff; // Not known: assume 16-bit ids.
  }
}
