import { randomBytes } from "node:crypto";
import { isSkillsError, SkillsError } from "../errors.ts";
import type { Log } from "../log.ts";
import { attempt } from "./system-error.ts";

export interface InternalErrorOptions {
  /** Gets the details of an internal error. */
  readonly log: Log;
  /** Default: random. */
  readonly newErrorId?: (() => string) | undefined;
}

/**
 * Hides an unexpected error from callers: returns INTERNAL with an id in `facts.errorId`, never a stack trace or a host path. The details
 * are logged under the same id. An error that was converted before is returned unchanged. Never throws.
 */
export function toInternalError(
  error: unknown,
  { log, newErrorId = () => `err_${randomBytes(8).toString("hex")}` }: InternalErrorOptions,
): SkillsError {
  if (isSkillsError(error, "INTERNAL") && typeof error.facts.errorId === "string") return error;
  const errorId = newErrorId();
  log("error", `Internal error ${errorId}: ${describeFailure(error)}`);
  const message = `Internal error ${errorId}. Details are in the log.`;
  return new SkillsError("INTERNAL", message, { cause: error, facts: { errorId } });
}

/** Stack and causes, for the log only. Never throws. */
function describeFailure(error: unknown): string {
  // String() itself may throw, for example on an object without a prototype.
  return attempt(() => {
    if (!(error instanceof Error)) return String(error);
    const cause = error.cause === undefined ? "" : `\nCaused by: ${describeFailure(error.cause)}`;
    return `${error.stack ?? error.message}${cause}`;
  }, "a thrown value that cannot be converted to text");
}
