import { isSkillsError, SkillsError } from "../../errors.ts";
import { invalidInput } from "../../base/invalid-input.ts";

/** A path of the caller's that leads to no file it may have; `fault` ends a sentence. */
export function notInProject(path: string, fault: string): SkillsError {
  const hint = "Give the path of a regular file, relative to the session's directory, with / between its segments.";
  return new SkillsError("INVALID_PATH", `The path ${JSON.stringify(path.slice(0, longestShown))} ${fault}.`, {
    facts: { hint },
  });
}

export function fileTaken(path: string): SkillsError {
  const expected = "a name that no file has yet, or overwrite: true";
  return invalidInput("read_blob", [{ field: "/save_as", expected, actual: path.slice(0, longestShown) }]);
}

export function tooLarge(path: string, limitBytes: number): SkillsError {
  const message = `${JSON.stringify(path)} is too large: a blob may have at most ${limitBytes} bytes.`;
  return new SkillsError("BLOB_TOO_LARGE", message, { facts: { limitBytes, hint: "Store a part of it." } });
}

/** What the system refuses about a file of the project, in words; what is no matter of the disk passes as it is. */
export async function refusalOfDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isSkillsError(error)) {
      // A link that was put in the way of what had been looked at.
      throw error.code === "UNREADABLE" ? notInProject(path, "was replaced while it was opened") : error;
    }
    const { code = "" } = error as NodeJS.ErrnoException;
    const reason = reasons[code];
    if (reason !== undefined) throw reason(JSON.stringify(path), error);
    if (code === "ENOENT" || code === "ENOTDIR") throw notInProject(path, "was replaced while it was opened");
    if (code === "ELOOP" || code === "ENXIO" || code === "EISDIR") throw notInProject(path, "names no regular file");
    throw error;
  }
}

const longestShown = 133;

const denied = (why: string) => (path: string, cause: unknown) =>
  new SkillsError("PERMISSION_DENIED", `${path} of the project cannot be used: ${why}.`, { cause });
const full = (path: string, cause: unknown) =>
  new SkillsError("QUOTA_EXCEEDED", `${path} of the project cannot be written: the disk is full.`, {
    cause,
    facts: { limit: "disk", hint: "A person has to make room on the project's disk." },
  });

const reasons: Readonly<Record<string, (path: string, cause: unknown) => SkillsError>> = {
  EACCES: denied("this user has no right to it"),
  EPERM: denied("the system does not permit it"),
  EROFS: denied("its file system is read-only"),
  ENOSPC: full,
  EDQUOT: full,
};
