import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Log } from "../log.ts";
import { hostDirectoryPrefix, ownerFile, startOf, worldOfProcesses } from "./host-directory.ts";
import type { Owner } from "./host-directory.ts";
import { removeTree } from "./remove-tree.ts";

/** Removes what processes of this user left that were killed before they could tidy up. Never throws. */
export async function sweepLeftovers(log: Log, temporaryDirectory = tmpdir()): Promise<void> {
  for (const name of namesIn(temporaryDirectory)) {
    const path = join(temporaryDirectory, name);
    if (!name.startsWith(hostDirectoryPrefix) || !isLeftover(path)) continue;
    try {
      await removeTree(path);
      log("info", `Removed what an earlier process left: ${path}`);
    } catch (error) {
      log("warning", `${path} is left over and cannot be removed: ${String(error)}`);
    }
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // Then nothing of ours is in it either.
  }
}

/** Ours, and its owner is dead for certain. */
function isLeftover(path: string): boolean {
  try {
    const found = lstatSync(path);
    if (!found.isDirectory() || found.uid !== process.getuid?.()) return false;
    const owner = JSON.parse(readFileSync(join(path, ownerFile), "utf8")) as Owner;
    return owner.world === worldOfProcesses() && owner.world !== "" && startOf(owner.pid) !== owner.started;
  } catch {
    return false; // It is being made, being removed, or nothing of ours.
  }
}
