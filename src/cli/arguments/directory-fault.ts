import { accessSync, constants, statSync } from "node:fs";

/** Why a directory that an option names, by an absolute path, cannot be read: a sentence, or none. */
export function directoryFault(option: string, directory: string): string[] {
  try {
    if (!statSync(directory).isDirectory()) return [`${option} ${directory}: not a directory`];
    accessSync(directory, constants.R_OK | constants.X_OK);
    return [];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [`${option} ${directory}: no such directory`];
    return [`${option} ${directory}: cannot be read (${code ?? String(error)})`];
  }
}
