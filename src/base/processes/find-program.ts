import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";
import { attempt } from "../failures/system-error.ts";

/** The absolute directories of `PATH`: of others, nobody can say what they will be. */
export function searchPath(value = process.env["PATH"] ?? ""): readonly string[] {
  return value.split(path.delimiter).filter((directory) => path.isAbsolute(directory));
}

/** The first file that this user may execute, and that has one of these names. */
export function findProgram(directories: readonly string[], ...names: readonly string[]): string | undefined {
  return directories.flatMap((directory) => names.map((name) => path.join(directory, name))).find(isExecutable);
}

function isExecutable(file: string): boolean {
  // False if it is absent or not accessible.
  return attempt(() => {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  }, false);
}
