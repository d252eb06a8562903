import type { Log } from "../../../base/log.ts";
import { isSkillsError } from "../../../base/errors.ts";
import type { ShownRun } from "../../wire/runs.ts";
import { toErrorAnswer } from "../answer/to-error-answer.ts";

type RunError = NonNullable<ShownRun["error"]>;

/** The hint of a refusal in the page; elsewhere it names a command. */
const decideHere = "The permissions tab shows what it wants, and lets you decide.";
const nobody = " There is nobody to ask here.";

/** Why a run was refused, in words for the page: STALE if the files are no longer those that were shown. */
export function toRunError(error: unknown, log: Log): RunError {
  if (isStale(error)) {
    const message = "The skill changed since you looked at it, so it was not run.";
    return { code: "STALE", message, hint: "Look at it again, then run it." };
  }
  const { code, message, hint } = toErrorAnswer(error, log).body.error;
  if (code !== "PERMISSION_DENIED" || hint?.includes("acp-skills approvals ") !== true)
    return { code, message, ...(hint !== undefined && { hint }) };
  return { code, message: message.replace(nobody, ""), hint: decideHere };
}

/** What the files are, or what they declare, was another when it was shown. */
function isStale(error: unknown): boolean {
  return isSkillsError(error) && error.code === "SKILL_NOT_READY" && error.facts.retryable === true;
}
