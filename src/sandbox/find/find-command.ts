import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** The absolute path of a program that this user may execute; the directories `first` are searched before `PATH`. */
export function findCommand(name: string, first: readonly string[] = []): string | undefined {
  const directories = (process.env["PATH"] ?? "").split(delimiter).filter((directory) => isAbsolute(directory));
  return [...first, ...directories].map((directory) => join(directory, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false; // Absent or not accessible.
  }
}
