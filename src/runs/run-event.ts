/**
 * Everything that a run tells while it goes on. `runId` is that of the run that the event is about: a skill that code called has a run
 * of its own. No event holds a secret.
 */
export type RunEvent = { readonly runId: string } & (
  | { readonly type: "queued" }
  | { readonly type: "started"; readonly isolation: string }
  /** Whole lines, without control sequences. */
  | { readonly type: "printed"; readonly text: string }
  | { readonly type: "blob_kept"; readonly blobId: string; readonly kind: string; readonly sizeBytes: number }
  /** Code inside the run calls a skill. */
  | { readonly type: "skill_called"; readonly skill: string; readonly version: string }
  | { readonly type: "ended"; readonly status: "completed" | "failed" | "refused" | "cancelled" }
);

/** Must not throw. */
export type RunListener = (event: RunEvent) => void;

/** A listener for what code prints. `listener` must not throw. */
export function onPrinted(listener: (text: string) => void): RunListener {
  return (event) => {
    if (event.type === "printed") listener(event.text);
  };
}
