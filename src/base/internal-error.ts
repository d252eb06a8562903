import { isSkillsError, SkillsError } from "../errors.ts";
import type { Log } from "./log.ts";

/** Where the detail of an internal error goes, and where its id comes from. */
export interface InternalErrorOptions {
  readonly log: Log;
  readonly newErrorId: () => string;
}

/**
 * A failure of ours as a caller may see it: INTERNAL with an id in `facts.errorId`, never a trace or a path of this machine. The
 * detail goes to the log beside the id; what went through here before comes back as it is. Never throws.
 */
export function toInternalError(error: unknown, { log, newErrorId }: InternalErrorOptions): SkillsError {
  if (isSkillsError(error) && error.code === "INTERNAL" && typeof error.facts.errorId === "string") return error;
  const errorId = newErrorId();
  log("error", `Internal error ${errorId}: ${describeFailure(error)}`);
  const message = `Internal error ${errorId}. Its detail is in the log.`;
  return new SkillsError("INTERNAL", message, { cause: error, facts: { errorId } });
}

/** Everything there is to know about a failure, for the log only. Never throws. */
function describeFailure(error: unknown): string {
  try {
    if (!(error instanceof Error)) return String(error);
    const cause = error.cause === undefined ? "" : `\nCaused by: ${describeFailure(error.cause)}`;
    return `${error.stack ?? error.message}${cause}`;
  } catch {
    // A thrown value may refuse to become text; that it was thrown is all there is to tell.
    return "a value that cannot be shown";
  }
}
