/** What happens in a run. No part of it holds a secret. */
export type RunStep =
  /** `behind`: the runs that are running or queued before it, where it has to wait for a turn; else 0. `skill`: whose code it runs. */
  | { readonly type: "queued"; readonly behind: number; readonly skill?: string }
  /** `packages`: the digest of the installed packages that it can import. `by`: what allows it, see `Authorization`. */
  | { readonly type: "started"; readonly isolation: string; readonly packages?: string; readonly by?: string }
  /** Whole lines, without control sequences. */
  | { readonly type: "printed"; readonly text: string }
  /** An output was stored. `path`: where an output file was. */
  | {
      readonly type: "blob_kept";
      readonly blobId: string;
      readonly kind: string;
      readonly sizeBytes: number;
      readonly path?: string;
    }
  /** Code inside the run calls a skill; that run has its own events, with its own run id, at least `ended`. */
  | {
      readonly type: "skill_called";
      readonly skill: string;
      readonly version: string;
      readonly digest: string;
      readonly calledRunId: string;
    }
  /** A secret was sent for code inside the run, which does not have it. `status`: of the answer; absent if there was none. */
  | {
      readonly type: "secret_sent";
      readonly secret: string;
      readonly host: string;
      readonly method: string;
      readonly status?: number;
    }
  | { readonly type: "ended"; readonly status: "completed" | "failed" | "refused" | "cancelled" };

/** A run reports everything as such events. `runId`: the run concerned; a skill that code calls has a run of its own. */
export type RunEvent = { readonly runId: string } & RunStep;

/** Must not throw. */
export type RunListener = (event: RunEvent) => void;
