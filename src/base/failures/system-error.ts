import { getSystemErrorMap } from "node:util";

/** The code of an error of the system, such as `ENOENT`; empty for other errors. */
export function systemCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** The reason that the system gives for an error, such as `permission denied`; for other errors their message. */
export function systemReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const errno = "errno" in error && typeof error.errno === "number" ? error.errno : 0;
  return getSystemErrorMap().get(errno)?.[1] ?? error.message;
}

/** Returns the result of work on a file or directory that may not exist; undefined if it does not exist. */
export function ifThere<Value>(work: () => Value): Value | undefined {
  try {
    return work();
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Why a file cannot be written, by the system's code. Used instead of the error's message, which may name a temporary file. */
export const writeReasons: Readonly<Record<string, string>> = {
  EACCES: "no permission to write in its directory",
  EPERM: "no permission to write in its directory",
  EROFS: "its file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk is full",
};

/** Returns the result of `work`; `otherwise` if it throws. For work whose failures all mean the same, as a comment at the call says. */
export function attempt<Value, Otherwise>(work: () => Value, otherwise: Otherwise): Value | Otherwise {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
