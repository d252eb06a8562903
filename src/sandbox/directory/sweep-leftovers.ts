import { randomUUID } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { identifyProcess, isRunning } from "../../base/processes/live-process.ts";
import type { ProcessIdentity } from "../../base/processes/live-process.ts";
import type { Log } from "../../base/log.ts";
import { hostDirectoryPrefix, ownerFile, removeHostDirectory } from "./host-directory.ts";

const forgottenMs = 600_000;

/** Removes directories of this user's processes that were killed. Does not throw. */
export async function sweepLeftovers(log: Log, temporaryDirectory = tmpdir()): Promise<void> {
  for (const name of namesIn(temporaryDirectory)) {
    const path = join(temporaryDirectory, name);
    if (!name.startsWith(hostDirectoryPrefix) || !isLeftover(path)) continue;
    try {
      const claimed = claim(path, temporaryDirectory);
      if (claimed === undefined) continue;
      await removeHostDirectory(claimed);
      log("info", `Removed files of an earlier process: ${path}`);
    } catch (error) {
      log("warning", `Cannot remove files of an earlier process in ${path}: ${String(error)}`);
    }
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // Not readable: nothing to remove.
  }
}

/** Whether it belongs to this user and its process is certainly dead. */
function isLeftover(path: string): boolean {
  try {
    const found = lstatSync(path);
    if (!found.isDirectory() || (process.getuid !== undefined && found.uid !== process.getuid())) return false;
    return isRunning(JSON.parse(readFileSync(join(path, ownerFile), "utf8")) as ProcessIdentity) === false;
  } catch {
    return isForgotten(path);
  }
}

/** Without an owner file for so long that no process is still creating or removing it. */
function isForgotten(path: string): boolean {
  try {
    return Date.now() - lstatSync(path).mtimeMs > forgottenMs && !readdirSync(path).includes(ownerFile);
  } catch {
    return false; // It was removed.
  }
}

/** Renames it, so that only one of several concurrent sweeps succeeds. */
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
