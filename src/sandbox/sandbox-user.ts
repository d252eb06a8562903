import { randomInt } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { SandboxRun } from "./sandbox.ts";

const firstFree = 0x7000_0000;
const countFree = 0x0fff_0000;

/** `undefined` is ourselves. */
type User = { readonly id: number | undefined } | { readonly refusal: string };

/**
 * An id that belongs to nobody, another one for each sandbox, so that limits of the kernel count it alone and no file is its
 * own.
 */
function takeFreeUser(): User {
  const highest = highestUser();
  if (highest < 2) return { refusal: "Nothing is run as root, and no other user is known here." };
  if (highest >= firstFree + countFree) return { id: randomInt(firstFree, firstFree + countFree) };
  // In a container that knows few ids, the last ones of them.
  return { id: randomInt(Math.max(1, highest - 4_000), highest) };
}

/**
 * Who runs what uses this directory of the user's, if any: ourselves, unless we are root. As root it is nobody in
 * particular where everyone may read and nothing is written, else the owner, and never root: many of the kernel's settings
 * are files that trust root's id, whatever rights it has given up.
 */
export function chooseUser(project: SandboxRun["project"]): User {
  if (process.getuid?.() !== 0) return { id: undefined };
  if (project === undefined) return takeFreeUser();
  const found = statSync(project.directory, { throwIfNoEntry: false });
  if (found === undefined) return { refusal: `There is no directory ${project.directory}.` };
  if (!project.writable && everyoneMayEnter(project.directory)) return takeFreeUser();
  if (found.uid !== 0) return { id: found.uid };
  const needed = project.writable ? "is root's, so that only root could write there" : "can be read by root only";
  return {
    refusal: `Nothing is run as root, and ${project.directory} ${needed}. Give it to an ordinary user, or run as one.`,
  };
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
