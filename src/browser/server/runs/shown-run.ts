import { localOwner } from "../../../runtime/caller.ts";
import type { RunResult, StoredRun } from "../../../runtime/runs.ts";
import type { OutputBlob, ShownResult, ShownRun } from "../../wire/runs.ts";
import type { Log } from "../../../base/log.ts";
import { isSkillsError } from "../../../base/errors.ts";
import { toErrorAnswer } from "../answer/send-answer.ts";

/** A run of the store, whoever started it. */
export function toShownRun({ spec, createdAt, status, events, result, error }: StoredRun): ShownRun {
  const { runId, skill, owner } = spec;
  return {
    run: runId,
    ...(skill !== undefined && { skill: skill.slug, digest: skill.digest }),
    at: createdAt,
    status,
    isOwn: owner === localOwner,
    printed: { at: 0, text: "" },
    blobs: events.flatMap(toBlob),
    // The schema of records knows either an output or an error, as its results do.
    ...(result !== undefined && { result: toShownResult(result as RunResult) }),
    ...(error !== undefined && { error }),
  };
}

/** An event `blob_kept`. */
function toBlob({ type, ...facts }: StoredRun["events"][number]): readonly OutputBlob[] {
  const { blobId: id, kind, sizeBytes, path } = facts as Readonly<Record<string, unknown>>;
  if (type !== "blob_kept" || typeof id !== "string" || typeof kind !== "string" || typeof sizeBytes !== "number")
    return [];
  return [{ id, kind, sizeBytes, ...(typeof path === "string" && { path }) }];
}

export function toShownResult(result: RunResult): ShownResult {
  const { status, summary, output, error, output_blobs, logs_preview, logs_blob, duration_ms } = result;
  return {
    status,
    summary,
    ...(status === "completed" && { output }),
    ...(error !== undefined && {
      error: { type: error.type, message: error.message, ...(error.code !== undefined && { code: error.code }) },
    }),
    output_blobs,
    logs_preview,
    ...(logs_blob !== undefined && { logs_blob }),
    duration_ms,
  };
}

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
