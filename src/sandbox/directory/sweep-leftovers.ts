import { randomUUID } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { identifyProcess, isRunning } from "../../base/live-process.ts";
import type { ProcessIdentity } from "../../base/live-process.ts";
import type { Log } from "../../base/log.ts";
import { hostDirectoryPrefix, ownerFile, removeHostDirectory } from "./host-directory.ts";

const forgottenMs = 600_000;

/** Removes what processes of this user left that were killed before they could tidy up. Never throws. */
export async function sweepLeftovers(log: Log, temporaryDirectory = tmpdir()): Promise<void> {
  for (const name of namesIn(temporaryDirectory)) {
    const path = join(temporaryDirectory, name);
    if (!name.startsWith(hostDirectoryPrefix) || !isLeftover(path)) continue;
    try {
      const claimed = claim(path, temporaryDirectory);
      if (claimed === undefined) continue;
      await removeHostDirectory(claimed);
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
    if (!found.isDirectory() || (process.getuid !== undefined && found.uid !== process.getuid())) return false;
    return isRunning(JSON.parse(readFileSync(join(path, ownerFile), "utf8")) as ProcessIdentity) === false;
  } catch {
    return isForgotten(path);
  }
}

/** Without an owner for so long that nobody can be making or removing it any more. */
function isForgotten(path: string): boolean {
  try {
    return Date.now() - lstatSync(path).mtimeMs > forgottenMs && !readdirSync(path).includes(ownerFile);
  } catch {
    return false; // It is gone.
  }
}

/** Makes it ours alone, under another name: of several that sweep at once one succeeds. */
function claim(path: string, temporaryDirectory: string): string | undefined {
  const claimed = join(temporaryDirectory, `${hostDirectoryPrefix}${randomUUID()}`);
  try {
    writeFileSync(join(path, ownerFile), JSON.stringify(identifyProcess()));
    renameSync(path, claimed);
    return claimed;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
