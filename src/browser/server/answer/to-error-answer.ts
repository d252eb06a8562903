import { type SkillsErrorCode, isSkillsError } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { toWireError } from "../../../wire/error-table.ts";
import type { BrowseError } from "../../wire/skills.ts";

const statuses: Partial<Record<SkillsErrorCode, number>> = {
  INTERNAL: 500,
  SKILL_NOT_FOUND: 404,
  VERSION_NOT_FOUND: 404,
  FILE_NOT_FOUND: 404,
  BLOB_NOT_FOUND: 404,
  PERMISSION_DENIED: 403,
  AUTH_REQUIRED: 401,
  FILE_TOO_LARGE: 413,
  BLOB_TOO_LARGE: 413,
  QUOTA_EXCEEDED: 429,
  RATE_LIMITED: 429,
  RUNTIME_BUSY: 429,
  SKILL_NOT_READY: 409,
  SANDBOX_UNAVAILABLE: 503,
  ENDPOINT_UNREACHABLE: 502,
  EXECUTION_TIMEOUT: 504,
};

/** Errors whose message is shown only to this person: which of their files cannot be used, what is wrong with a source that they named. */
const ofThisPerson: Partial<Record<SkillsErrorCode, number>> = {
  UNREADABLE: 500,
  SOURCE_INVALID: 502,
  INVALID_OPTIONS: 400,
};

/** The answer to a request that failed. What is not ours is logged, and answered with the id to search the log for. */
export function toErrorAnswer(error: unknown, log: Log): { readonly status: number; readonly body: BrowseError } {
  const own = isSkillsError(error) ? ofThisPerson[error.code] : undefined;
  if (isSkillsError(error) && own !== undefined) {
    const { code, message, facts } = error;
    const { hint } = facts;
    if (own === 500) log("error", message);
    return { status: own, body: { error: { code, message, ...(typeof hint === "string" && { hint }) } } };
  }
  const { message, data } = toWireError(error, { log });
  const { code, hint, violations } = data;
  const where = violations?.map(({ field, expected }) => `${field}: expected ${expected}`).join("; ");
  const advice = hint ?? where;
  return {
    status: statuses[code] ?? 400,
    body: { error: { code, message, ...(advice !== undefined && { hint: advice }) } },
  };
}
