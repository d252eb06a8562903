import type { StoredRun } from "./store/stored-run.ts";

export { diskRunStore } from "./store/disk-run-store.ts";
export type { StoredRun } from "./store/stored-run.ts";

/** Limits of what is stored. */
export interface RunRetention {
  readonly ttlMs: number;
  /** Of one owner. Of more runs the oldest are removed. */
  readonly maxRuns: number;
  readonly maxBytes: number;
}

/** The port to the records of runs. */
export interface RunStore {
  /**
   * Stores a record, some time later, in place of an earlier one of the same run; until it is stored, `read` finds it here. Never throws:
   * a run does not depend on its record.
   */
  keep(run: StoredRun): void;
  /** Waits until everything so far is stored; whether a record of this run survives the end of this process. */
  stored(runId: string): Promise<boolean>;
  /** Undefined where there is none, or no longer. */
  read(runId: string): Promise<StoredRun | undefined>;
  /** Newest first. */
  list(): AsyncIterable<StoredRun>;
  /** Waits for what is still being stored. */
  close(): Promise<void>;
}
