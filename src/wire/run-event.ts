/** A step of a run. Contains no secret. */
export type RunStep =
  /** `behind`: the number of runs before it, running or queued, if it has to wait; else 0. `skill`: the skill whose code it runs. */
  | { readonly type: "queued"; readonly behind: number; readonly skill?: string }
  /** `packages`: the digest of the packages that the code can import. `by`: the basis of its authorization, see `Authorization`. */
  | { readonly type: "started"; readonly isolation: string; readonly packages?: string; readonly by?: string }
  /** Whole lines, without control sequences. */
  | { readonly type: "printed"; readonly text: string }
  /** An output was stored. `path`: the path of an output file in the run. */
  | {
      readonly type: "blob_kept";
      readonly blobId: string;
      readonly kind: string;
      readonly sizeBytes: number;
      readonly path?: string;
    }
  /** Code inside the run calls a skill. The called run has its own run id and its own events, at least `ended`. */
  | {
      readonly type: "skill_called";
      readonly skill: string;
      readonly version: string;
      readonly digest: string;
      readonly calledRunId: string;
    }
  /** A secret was sent on behalf of code inside the run, which does not have it. `status`: of the response; absent if there was none. */
  | {
      readonly type: "secret_sent";
      readonly secret: string;
      readonly host: string;
      readonly method: string;
      readonly status?: number;
    }
  | { readonly type: "ended"; readonly status: "completed" | "failed" | "refused" | "cancelled" };

/** An event of a run. `runId`: the run concerned; a skill that code calls has a run of its own. */
export type RunEvent = { readonly runId: string } & RunStep;

/** Receives the events of runs. Must not throw. */
export type RunListener = (event: RunEvent) => void;
