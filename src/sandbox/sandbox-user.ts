import { randomInt } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";

const firstFree = 0x7000_0000;
const countFree = 0x0fff_0000;

/**
 * As root: an id that belongs to nobody, another one for each sandbox, so that limits of the kernel count it alone and no file
 * is its own. `undefined` for everybody else, who can only be themselves.
 */
function takeFreeUser(): number | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const highest = highestUser();
  if (highest >= firstFree + countFree) return randomInt(firstFree, firstFree + countFree);
  // In a container that knows few ids, the last ones of them.
  return randomInt(Math.max(1, highest - 4_000), highest);
}

/** Who runs what uses these directories of the user's, if any. As root, `undefined` means root. */
export function userFor(uses: {
  readonly project: { readonly directory: string; readonly writable: boolean } | undefined;
  readonly packages: string | undefined;
}): number | undefined {
  if (uses.project !== undefined) return userOfDirectory(uses.project.directory, uses.project.writable);
  return uses.packages === undefined ? takeFreeUser() : userOfDirectory(uses.packages, false);
}

/**
 * Who must run what is to use a directory of the user's. As root: nobody in particular where everyone may read it and
 * nothing is written, else its owner.
 */
function userOfDirectory(directory: string, writable: boolean): number | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = statSync(directory).uid;
  if (!writable && everyoneMayEnter(directory)) return takeFreeUser();
  return owner === 0 ? undefined : owner;
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
