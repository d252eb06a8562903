import { localOwner } from "../../../runtime/caller.ts";
import type { RunResult, StoredRun } from "../../../runtime/runs.ts";
import type { OutputBlob, ShownResult, ShownRun } from "../../wire/runs.ts";

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
