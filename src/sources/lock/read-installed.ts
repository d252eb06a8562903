import { fstatSync } from "node:fs";
import {
  type HeldDirectory,
  holdChild,
  holdDirectory,
  inChild,
  joinPath,
  listHeld,
  openInHeld,
  readInto,
  within,
  withDescriptor,
} from "../../base/paths/at-real-path.ts";
import { isGitName } from "../../base/paths/guarded-names.ts";
import { systemCode } from "../../base/failures/system-error.ts";
import { SkillsError, isSkillsError } from "../../base/errors.ts";
import { skillLimits } from "../archive/skill-limits.ts";
import type { SkillFile } from "../reader.ts";

/** The content of an installed skill's directory. */
export interface InstalledFiles {
  readonly files: readonly SkillFile[];
  /** The paths of links and other irregular files, of files whose names are not UTF-8, and of directories of git. */
  readonly others: readonly string[];
}

/**
 * Reads all files of a directory by its real path, without following links. Hidden files, which the digest does not cover, are read too:
 * replacing the skill would lose them. A `.git` is named without its content. Undefined if the name does not exist; a link or a file of
 * that name has no files. Throws FILE_TOO_LARGE over the limits of a skill.
 */
export function readInstalled(parent: string, name: string): InstalledFiles | undefined {
  const files: SkillFile[] = [];
  const others: string[] = [];
  const real = joinPath(parent, name);
  try {
    const child = within(holdDirectory(parent), (held) => holdOrOther(held, name, real));
    if (child === undefined) return undefined;
    if (child === "other") return { files, others: ["."] };
    const reading = { files, others, bytesLeft: skillLimits.bytes, directory: real };
    within(child, () => readDirectory(child, real, "", reading));
  } catch (error) {
    const code = systemCode(error);
    if (isSkillsError(error) || code === "") throw error;
    const message = `${real} cannot be read (${code}); make it and everything in it readable.`;
    throw new SkillsError("UNREADABLE", message, { cause: error, facts: { path: real } });
  }
  return { files, others };
}

function holdOrOther(held: HeldDirectory, name: string, real: string): HeldDirectory | "other" | undefined {
  try {
    return holdChild(held, name, real);
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT") return undefined;
    // The name is that of a link or a file.
    if (code === "ENOTDIR" || code === "ELOOP" || code === "") return "other";
    throw error;
  }
}

interface Reading {
  readonly files: SkillFile[];
  readonly others: string[];
  bytesLeft: number;
  readonly directory: string;
}

function readDirectory(held: HeldDirectory, real: string, prefix: string, reading: Reading): void {
  for (const entry of listHeld(held, real)) {
    const path = prefix + entry.name;
    if (entry.isDirectory() && isGitName(entry.name)) reading.others.push(path);
    else if (entry.isDirectory()) {
      inChild(held, entry.name, real, (child, inner) => readDirectory(child, inner, `${path}/`, reading));
    } else if (entry.isFile() && !/\p{Cs}/u.test(entry.name)) {
      if (reading.files.length >= skillLimits.files) throw tooLarge(reading, `${skillLimits.files} files`);
      reading.files.push(readFile(held, entry.name, path, reading));
    } else reading.others.push(path);
  }
}

function readFile(held: HeldDirectory, name: string, path: string, reading: Reading): SkillFile {
  return withDescriptor(openInHeld(held, name), (descriptor) => {
    const { size, mode } = fstatSync(descriptor);
    if (size > reading.bytesLeft) throw tooLarge(reading, `${skillLimits.bytes / 1024 / 1024} MiB`);
    const bytes = Buffer.allocUnsafe(size);
    const length = readInto(descriptor, bytes);
    reading.bytesLeft -= length;
    return { path, bytes: bytes.subarray(0, length), executable: (mode & 0o100) !== 0 };
  });
}

function tooLarge({ directory }: Reading, limit: string): SkillsError {
  const message = `${directory} has more than ${limit}, the limit of a skill that is installed.`;
  return new SkillsError("FILE_TOO_LARGE", message, { facts: { path: directory } });
}
