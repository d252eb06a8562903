import { SkillsError, isSkillsError } from "../../errors.ts";
import { PlaceFault } from "./place-fault.ts";
import { SourceFailure } from "./stage-content.ts";

/** What was to be done to blobs when their place on disk refused. */
export type Doing = "kept" | "read" | "removed";

const free = "A person can free space there: acp-skills blobs sweep, or acp-skills blobs rm ID.";
const mend = "A person has to mend that (acp-skills doctor shows the directory); nothing needs to be started anew.";

/** What the system says of a place that cannot be used, in words; any other code is a fault of ours. */
const reasons: Readonly<Record<string, { readonly reason: string; readonly hint: string }>> = {
  ENOSPC: { reason: "the disk is full", hint: free },
  EDQUOT: { reason: "this user's share of the disk is used up", hint: free },
  EROFS: { reason: "the file system is read-only", hint: mend },
  EACCES: { reason: "this user has no right to do that in their directory", hint: mend },
  EPERM: { reason: "the system does not permit it in their directory", hint: mend },
  ENOENT: { reason: "their directory is gone", hint: "It is made again where that is possible: try again." },
  ENOTDIR: { reason: "a file is where their directory should be", hint: mend },
  EEXIST: { reason: "a file is where their directory should be", hint: mend },
  ESTALE: { reason: "the disk that their directory is on is gone", hint: mend },
  ENODEV: { reason: "the disk that their directory is on is gone", hint: mend },
  EIO: { reason: "the disk has failed", hint: mend },
};

/** A place that cannot be used. The message names no path of this machine: the caller of a tool may read it. */
function unusablePlace(
  doing: Doing,
  reason: string,
  { hint = mend, cause }: { hint?: string; cause?: unknown } = {},
): SkillsError {
  // A caller who wants to read has no quota to think of.
  const code = doing === "read" ? "RUNTIME_BUSY" : "QUOTA_EXCEEDED";
  return new SkillsError(code, `Blobs cannot be ${doing} now: ${reason}.`, {
    cause,
    facts: { limit: "disk", hint, reason },
  });
}

/** What we refuse, and what the source of a stream throws, as it is; a place that cannot be used as that; anything else as INTERNAL. */
export async function onDisk<T>(doing: Doing, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SourceFailure) throw error.cause;
    if (error instanceof PlaceFault) throw unusablePlace(doing, error.message, { cause: error });
    if (isSkillsError(error)) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? "unknown";
    if (code === "EMFILE" || code === "ENFILE") {
      const message = `Blobs cannot be ${doing} now: too many files are open.`;
      throw new SkillsError("RUNTIME_BUSY", message, { cause: error, facts: { hint: "Try again later." } });
    }
    const known = reasons[code];
    if (known !== undefined) throw unusablePlace(doing, known.reason, { hint: known.hint, cause: error });
    throw new SkillsError("INTERNAL", `The blob store failed (${code}).`, { cause: error, facts: { system: code } });
  }
}

/** Whether an error is for want of room. */
export function isFull(error: unknown): boolean {
  return error instanceof Error && ["ENOSPC", "EDQUOT"].includes((error as NodeJS.ErrnoException).code ?? "");
}
