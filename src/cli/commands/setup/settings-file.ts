import { lstatSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { systemCode, writeReasons } from "../../../base/failures/system-error.ts";
import { isWithin, whereItLies } from "../../../base/paths/location.ts";
import { makeDirectories } from "../../../base/paths/directories.ts";
import { SkillsError, isSkillsError } from "../../../base/errors.ts";
import type { SetupEnvironment } from "./editor.ts";
import { replaceFile, temporaryOf } from "../../../base/paths/replace-file.ts";

/** A file that configures an editor. */
export interface SettingsFile {
  /** The path at which the editor looks for the file. */
  readonly file: string;
  /** The path after all links, which are followed so that a repository of settings retains its links. */
  readonly real: string;
  /** The content; undefined if the file does not exist. */
  readonly text: string | undefined;
}

/** Larger files are not settings. */
const maxBytes = 4 * 1024 * 1024;

/**
 * Reads an editor's settings. Refuses a link below the current directory: it came with the project and may lead to any file of the user.
 */
export function readSettingsAt(file: string, { cwd, home }: Pick<SetupEnvironment, "cwd" | "home">): SettingsFile {
  const real = whereItLies(file);
  if (isWithin(file, cwd) && !isWithin(home, cwd) && real !== path.join(whereItLies(cwd), path.relative(cwd, file)))
    throw refusal(file, `a link of this project leads to ${real}; replace the link by what it leads to`);
  return readSettingsFile(file);
}

/** Reads a settings file. Throws UNREADABLE for anything but a text file of at most 4 MiB. */
export function readSettingsFile(file: string): SettingsFile {
  try {
    const real = realpathSync(file);
    const stats = statSync(real);
    if (!stats.isFile()) throw refusal(file, "it is not a file");
    if (stats.size > maxBytes) throw refusal(file, `it has ${stats.size} bytes; the limit is ${maxBytes}`);
    return {
      file,
      real,
      text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(real)),
    };
  } catch (error) {
    if (isSkillsError(error)) throw error;
    const code = systemCode(error);
    if (code === "ENOENT") {
      const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true;
      if (!isLink) return { file, real: file, text: undefined };
      throw refusal(file, "it is a link to a file that does not exist");
    }
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") throw refusal(file, "it is not UTF-8");
    throw code === "" ? error : refusal(file, `it cannot be read: ${readingReasons[code] ?? code}`);
  }
}

const readingReasons: Readonly<Record<string, string>> = {
  EACCES: "no permission",
  EPERM: "no permission",
  ELOOP: "it is a link to itself",
  ENOTDIR: "a file stands where its directory should be",
};

/** The byte order mark, if there is one, and the text after it. */
export function withoutMark(text: string | undefined): readonly [mark: string, text: string | undefined] {
  return text?.startsWith("\uFEFF") === true ? ["\uFEFF", text.slice(1)] : ["", text];
}

function refusal(file: string, reason: string): SkillsError {
  return new SkillsError("UNREADABLE", `${file} is not changed: ${reason}.`);
}

/**
 * Writes the new text, or deletes the file for null. Atomic; retains the mode. Throws UNREADABLE, and leaves the file as it is, if it has
 * changed since it was read or cannot be written. `temporary`: the name of the file that is written first beside it.
 */
export function writeSettingsFile(file: SettingsFile, text: string | null, temporary = temporaryOf(file.real)): void {
  const { file: path, real } = file;
  const now = readSettingsFile(path);
  if (now.text !== file.text || now.real !== real)
    throw refusal(path, "it was changed at this moment; run the command again");
  const isReadOnly = file.text !== undefined && (statSync(real).mode & 0o200) === 0;
  if (isReadOnly) throw refusal(path, `it is read-only; allow writing first: chmod u+w ${real}`);
  try {
    if (text === null) rmSync(real);
    else if (file.text === undefined) createFile(real, text, temporary);
    else replaceFile(real, text, temporary);
  } catch (error) {
    const code = systemCode(error);
    throw code === "" ? error : refusal(path, `it cannot be written: ${reasons[code] ?? code}`);
  }
}

const reasons: Readonly<Record<string, string>> = {
  ...writeReasons,
  ENOTDIR: "a file stands where its directory should be",
};

function createFile(real: string, text: string, temporaryName: string): void {
  makeDirectories(path.dirname(real), 0o755);
  const temporary = path.join(path.dirname(real), temporaryName);
  try {
    writeFileSync(temporary, text, { flag: "wx", mode: 0o644 });
    renameSync(temporary, real);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
