import { isSkillsError, SkillsError } from "../../errors.ts";
import { invalidInput } from "../../base/invalid-input.ts";

/** A path that names no file the caller may use; `fault` ends a sentence that starts with "The path". */
export function notInProject(path: string, fault: string): SkillsError {
  const hint = "Use the path of a regular file, relative to the session's directory, with / as separator.";
  return new SkillsError("INVALID_PATH", `The path ${JSON.stringify(path.slice(0, longestShown))} ${fault}.`, {
    facts: { hint },
  });
}

export function fileTaken(path: string): SkillsError {
  const expected = "the path of a new file, or overwrite: true";
  return invalidInput("read_blob", [{ field: "/save_as", expected, actual: path.slice(0, longestShown) }]);
}

export function tooLarge(path: string, limitBytes: number): SkillsError {
  const message = `${JSON.stringify(path)} is too large; the limit for a blob is ${limitBytes} bytes.`;
  return new SkillsError("BLOB_TOO_LARGE", message, { facts: { limitBytes, hint: "Store a part of it." } });
}

/** Converts file system errors about a file of the project; other errors pass unchanged. */
export async function refusalOfDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isSkillsError(error)) {
      // The file was replaced by a link after the check.
      throw error.code === "UNREADABLE" ? notInProject(path, "was replaced while it was being opened") : error;
    }
    const { code = "" } = error as NodeJS.ErrnoException;
    const reason = reasons[code];
    if (reason !== undefined) throw reason(JSON.stringify(path), error);
    if (code === "ENOENT" || code === "ENOTDIR") throw notInProject(path, "was replaced while it was being opened");
    if (code === "ELOOP" || code === "ENXIO" || code === "EISDIR") throw notInProject(path, "is not a regular file");
    throw error;
  }
}

const longestShown = 133;

const denied = (why: string) => (path: string, cause: unknown) =>
  new SkillsError("PERMISSION_DENIED", `Cannot use ${path} of the project: ${why}.`, { cause });
const full = (path: string, cause: unknown) =>
  new SkillsError("QUOTA_EXCEEDED", `Cannot write ${path} of the project: the disk is full.`, {
    cause,
    facts: { limit: "disk", hint: "The user has to free space on the project's disk." },
  });

const reasons: Readonly<Record<string, (path: string, cause: unknown) => SkillsError>> = {
  EACCES: denied("permission denied"),
  EPERM: denied("the operation is not permitted"),
  EROFS: denied("the file system is read-only"),
  ENOSPC: full,
  EDQUOT: full,
};
