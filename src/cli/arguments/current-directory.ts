import path from "node:path";
import { SkillsError } from "../../errors.ts";

/** The current directory of this process. Throws UNREADABLE if it has been deleted. */
export function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    const message = "The current directory cannot be read; it may have been deleted. Change to another one.";
    throw new SkillsError("UNREADABLE", message, { cause: error });
  }
}

/** Resolves a path against the current directory. Throws UNREADABLE only for relative paths. */
export function toAbsolute(file: string): string {
  return path.isAbsolute(file) ? file : path.resolve(currentDirectory(), file);
}
