import * as z from "zod";

/** How a run ended, as every door reports it. */
export const runResult = z.strictObject({
  status: z.enum(["completed", "failed"]),
  run_id: z.string().describe("Stable identifier for this run"),
  summary: z.string().describe("Human-readable result description"),
  output: z.unknown().optional().describe("Small JSON output (max 4KB); a larger one is in the blob that it names"),
  error: z
    .strictObject({
      type: z.string(),
      message: z.string(),
      code: z.string().optional(),
      details: z.record(z.string(), z.unknown()).optional(),
    })
    .optional()
    .describe("Present when the run failed"),
  output_blobs: z.array(z.string()).describe("Blob IDs created during execution"),
  more_output_blobs: z
    .strictObject({
      count: z.number(),
      blob_id: z.string().optional().describe("A blob that holds their IDs as a JSON array"),
    })
    .optional()
    .describe("Present when there are more than output_blobs names"),
  logs_preview: z.string().describe("Truncated execution logs (max 2KB)"),
  logs_blob: z.string().optional().describe("The whole log, when the preview is cut"),
  version: z.string().optional().describe("Of the skill that ran"),
  duration_ms: z.number(),
  limits_applied: z.strictObject({
    timeout_ms: z.number(),
    memory_mb: z.number(),
    isolation: z.string(),
    clamped: z.literal(true).optional().describe("Present when less time was given than was asked for"),
  }),
});

type WrittenResult = z.infer<typeof runResult>;

export type RunFailure = NonNullable<WrittenResult["error"]>;

/** What the status decides. The schema has no such alternatives: models' APIs want one object. */
export type RunOutcome =
  { status: "completed"; output: unknown; error?: never } | { status: "failed"; error: RunFailure; output?: never };

export type RunResult = Omit<WrittenResult, keyof RunOutcome> & RunOutcome;
