import { mkdirSync, statSync } from "node:fs";
import path from "node:path";

/**
 * Makes a directory, and those above it that are missing. Not by `recursive`: where a file system says ENOENT to whatever is to
 * be made in it, as /proc does, Node's own tries for ever.
 */
export function makeDirectories(directory: string, mode: number): void {
  const refusal = tryToMake(directory, mode);
  if (refusal === undefined) return;
  const above = path.dirname(directory);
  if (refusal.code !== "ENOENT" || above === directory) throw refusal;
  makeDirectories(above, mode);
  const last = tryToMake(directory, mode);
  if (last !== undefined) throw last;
}

/** What was said against it; nothing where the directory stands there, whoever made it. */
function tryToMake(directory: string, mode: number): NodeJS.ErrnoException | undefined {
  try {
    mkdirSync(directory, { mode });
    return undefined;
  } catch (error) {
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) return undefined;
    return error as NodeJS.ErrnoException;
  }
}
