import { lstatSync, mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { namesIn } from "../paths/directories.ts";
import { isAbandoned, ownedName } from "./live-process.ts";

/** Creates an empty directory that only this user can enter. `purpose`: a few letters. */
export function makeTemporary(above: string, purpose: string): string {
  const directory = path.join(above, `${prefixOf(purpose)}${ownedName()}`);
  mkdirSync(directory, { mode: 0o700 });
  return directory;
}

/** Removes temporary directories that killed processes of this user left behind. Does not throw. */
export function sweepTemporaryDirectories(above: string, purpose: string, now = Date.now()): void {
  const prefix = prefixOf(purpose);
  const user = process.getuid?.();
  try {
    for (const name of namesIn(above).filter((one) => one.startsWith(prefix))) {
      const directory = path.join(above, name);
      const stats = lstatSync(directory, { throwIfNoEntry: false });
      // Nobody else can have changed the content.
      const isOwn =
        stats?.isDirectory() === true && (user === undefined || (stats.uid === user && (stats.mode & 0o077) === 0));
      if (isOwn && isAbandoned(name.slice(prefix.length), () => stats.mtimeMs, now))
        rmSync(directory, { recursive: true, force: true });
    }
  } catch {
    // Not readable, or another process removes it: the next sweep tries again.
  }
}

function prefixOf(purpose: string): string {
  return `acp-skills-${purpose}-`;
}
