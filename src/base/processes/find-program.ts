import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";
import { attempt } from "../failures/system-error.ts";

/** The absolute directories of `PATH`. Relative ones are dropped, because they depend on the working directory. */
export function searchPath(value = process.env["PATH"] ?? ""): readonly string[] {
  return value.split(path.delimiter).filter((directory) => path.isAbsolute(directory));
}

/** The first file that this user may execute and that has one of these names. */
export function findProgram(directories: readonly string[], ...names: readonly string[]): string | undefined {
  return directories
    .flatMap((directory) => names.map((name) => path.join(directory, name)))
    .find((file) => isUsableFile(file, constants.X_OK));
}

/** Whether `file` is a file that this user may use in this way: `R_OK` to read, `X_OK` to execute it. */
export function isUsableFile(file: string, mode: number): boolean {
  // False if it is absent or not accessible.
  return attempt(() => {
    accessSync(file, mode);
    return statSync(file).isFile();
  }, false);
}
