import { SkillsError, isSkillsError } from "../../errors.ts";

/** Why a directory is rejected as a store although the system allows access: the end of a sentence, without a path. */
export class PlaceFault extends Error {}

/** Wraps an error of a source stream, to distinguish it from errors of the disk. */
export class SourceFailure extends Error {}

/** The failed operation. */
export type Doing = "stored" | "read" | "removed";

const free = "Free disk space, for example with acp-skills blobs sweep or acp-skills blobs rm ID.";
const mend = "Fix the directory (acp-skills doctor shows it); no restart is needed.";

/** Reasons for the system error codes of an unusable directory. Any other code is an internal error. */
const reasons: Readonly<Record<string, { readonly reason: string; readonly hint: string }>> = {
  ENOSPC: { reason: "the disk is full", hint: free },
  EDQUOT: { reason: "the disk quota of this user is exceeded", hint: free },
  EROFS: { reason: "the file system is read-only", hint: mend },
  EACCES: { reason: "permission is denied in their directory", hint: mend },
  EPERM: { reason: "the operation is not permitted in their directory", hint: mend },
  ENOENT: { reason: "their directory does not exist", hint: "Try again: it is recreated if possible." },
  ENOTDIR: { reason: "a file is in the place of their directory", hint: mend },
  EEXIST: { reason: "a file is in the place of their directory", hint: mend },
  ESTALE: { reason: "the disk that contains their directory is gone", hint: mend },
  ENODEV: { reason: "the disk that contains their directory is gone", hint: mend },
  EIO: { reason: "the disk reports an I/O error", hint: mend },
};

/** The message contains no path of this machine, because callers of tools read it. */
function unusablePlace(
  doing: Doing,
  reason: string,
  { hint = mend, cause }: { hint?: string; cause?: unknown } = {},
): SkillsError {
  const code = doing === "read" ? "RUNTIME_BUSY" : "QUOTA_EXCEEDED";
  return new SkillsError(code, `Blobs cannot be ${doing}: ${reason}.`, {
    cause,
    facts: { limit: "disk", hint, reason },
  });
}

/** Runs disk operations. Rethrows `SkillsError` and errors of the source; reports an unusable directory; maps anything else to INTERNAL. */
export async function onDisk<T>(doing: Doing, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SourceFailure) throw error.cause;
    if (error instanceof PlaceFault) throw unusablePlace(doing, error.message, { cause: error });
    if (isSkillsError(error)) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? "unknown";
    if (code === "EMFILE" || code === "ENFILE") {
      const message = `Blobs cannot be ${doing}: too many files are open.`;
      throw new SkillsError("RUNTIME_BUSY", message, { cause: error, facts: { hint: "Try again later." } });
    }
    const known = reasons[code];
    if (known !== undefined) throw unusablePlace(doing, known.reason, { hint: known.hint, cause: error });
    throw new SkillsError("INTERNAL", `The blob store failed (${code}).`, { cause: error, facts: { system: code } });
  }
}

/** Whether an error means that the disk is full. */
export function isFull(error: unknown): boolean {
  return error instanceof Error && ["ENOSPC", "EDQUOT"].includes((error as NodeJS.ErrnoException).code ?? "");
}
