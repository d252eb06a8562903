import * as z from "zod";
import { isSkillsError } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { localOwner } from "../../../runtime/caller.ts";
import type { StoredRun } from "../../../runtime/runs.ts";
import type { ShownRun } from "../../wire/runs.ts";
import { toRefusal } from "../answer/send-answer.ts";
import type { BrowseRefusal } from "../browse-context.ts";

/** The shown form of a stored run, whoever started it. */
export function toShownRun({ spec, createdAt, status, events, result, error }: StoredRun): ShownRun {
  const { runId, skill, owner } = spec;
  return {
    run: runId,
    skill: skill?.slug,
    digest: skill?.digest,
    at: createdAt,
    status,
    isOwn: owner === localOwner,
    printed: { at: 0, text: "" },
    blobs: events.flatMap((event) => storedBlob.safeParse(event).data ?? []),
    result,
    error,
  };
}

/** Reads an event `blob_kept`. */
const storedBlob = z
  .object({
    type: z.literal("blob_kept"),
    blobId: z.string(),
    kind: z.string(),
    sizeBytes: z.number(),
    path: z.string().optional(),
  })
  .transform(({ blobId: id, kind, sizeBytes, path }) => ({ id, kind, sizeBytes, path }));

/** The hint of a refusal in the page. It replaces one that names a command. */
const decideHere = "The permissions tab shows what it wants, and lets you decide.";
const nobody = " There is nobody to ask here.";

/** Why a run was refused, in words for the page. STALE if the files or their declarations differ from those shown. */
export function toRunRefusal(error: unknown, log: Log): BrowseRefusal {
  if (isSkillsError(error, "SKILL_NOT_READY") && error.facts.retryable === true) {
    const message = "The skill changed since you looked at it, so it was not run.";
    return { status: 409, code: "STALE", message, hint: "Look at it again, then run it." };
  }
  const refusal = toRefusal(error, log);
  const { code, message, hint } = refusal;
  if (code !== "PERMISSION_DENIED" || hint?.includes("acp-skills approvals ") !== true) return refusal;
  return { ...refusal, message: message.replace(nobody, ""), hint: decideHere };
}
