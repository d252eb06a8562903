import * as z from "zod";
import { runResult } from "../run-result.ts";
import { runSpec } from "../run-spec.ts";

/** A run: what it was asked to do, and how far it got. */
export const storedRunSchema = z.strictObject({
  spec: runSpec,
  /** Milliseconds since 1970. */
  createdAt: z.number(),
  /** `interrupted`: the process that ran it ended before the run. */
  status: z.enum(["queued", "running", "interrupted", "completed", "failed", "refused", "cancelled"]),
  /** Without what was printed. `atMs` counts from `createdAt`. */
  events: z.array(z.looseObject({ atMs: z.number(), type: z.string() })).readonly(),
  /** Of a run that started and ended. */
  result: runResult.exactOptional(),
  /** Why it was refused. */
  error: z.strictObject({ code: z.string(), message: z.string() }).exactOptional(),
});

export type StoredRun = z.infer<typeof storedRunSchema>;

/** How much is kept. */
export interface RunRetention {
  readonly ttlMs: number;
  /** Of one owner. Of more runs the oldest are removed. */
  readonly maxRuns: number;
  readonly maxBytes: number;
}

export const defaultRetention: RunRetention = Object.freeze({
  ttlMs: 24 * 60 * 60 * 1000,
  maxRuns: 10_000,
  maxBytes: 64 * 1024 * 1024,
});

/** The port to the records of runs (CONTRACT C-5.0). */
export interface RunStore {
  /**
   * Stores a record, some time later, in place of an earlier one of the same run; until it is stored, `read` finds it here. Never throws:
   * a run does not depend on its record.
   */
  keep(run: StoredRun): void;
  /** Waits for what was kept until now; whether a record of this run survives the end of this process. */
  stored(runId: string): Promise<boolean>;
  /** Undefined where there is none, or no longer. */
  read(runId: string): Promise<StoredRun | undefined>;
  /** Newest first. */
  list(): AsyncIterable<StoredRun>;
  /** Waits for what is still being stored. */
  close(): Promise<void>;
}
