import { statSync } from "node:fs";

/** What tells a directory from a later one of the same name; undefined where there is no directory. */
export function identityOf(directory: string): string | undefined {
  try {
    const stats = statSync(directory, { throwIfNoEntry: false });
    return stats?.isDirectory() === true ? `${stats.dev}:${stats.ino}` : undefined;
  } catch {
    // What may not be looked at is as good as missing.
    return undefined;
  }
}
