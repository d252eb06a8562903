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
