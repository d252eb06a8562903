import * as z from "zod";
import type { Json, RunLimits } from "../sandbox.ts";

const json = z.custom<Json>((value) => value !== undefined, "a JSON value");

/** One version of one skill, down to its bytes. */
const skillVersion = z.strictObject({
  name: z.string(),
  /** Unique in a catalog; of several skills with one name only the first has the slug of that name. */
  slug: z.string(),
  version: z.string(),
  /** `sha256:…` of all its files, as describe_skill gives it. */
  digest: z.string(),
});

const blob = z.strictObject({
  id: z.string(),
  kind: z.string(),
  size: z.number().int().nonnegative(),
  sha256: z.string(),
});

const program = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("skill"), skill: z.string(), args: json }),
  z.strictObject({ type: z.literal("code"), code: z.string(), entrypoint: z.string(), args: json }),
  z.strictObject({
    type: z.literal("script"),
    skill: z.string(),
    file: z.string(),
    language: z.enum(["python", "bash", "node"]),
    argv: z.array(z.string()).readonly(),
    stdin: z.string().exactOptional(),
  }),
  /** Invokes a skill on the machine that offers it. */
  z.strictObject({ type: z.literal("remote"), skill: z.string(), endpoint: z.string(), args: json }),
]);

const count = z.number().int().positive();
const limits: z.ZodType<RunLimits> = z.strictObject({
  timeoutMs: count,
  memoryBytes: count,
  processes: count,
  diskBytes: count,
  printedBytes: count,
  resultBytes: count,
  outputFiles: count,
});

/**
 * A run as plain JSON: it can be written to disk, read back and run. It holds no secret value, no open file and no
 * callback; those are resolved when it is executed.
 */
export const runSpec = z.strictObject({
  runId: z.string().regex(/^run_[A-Za-z0-9]{10,64}$/),
  /** The run whose code called this one. */
  parent: z.string().exactOptional(),
  /** The recorded run that this one repeats. */
  replays: z.string().exactOptional(),
  program,
  /** The skill whose code runs and whose permissions count. Absent for code that the model wrote, which has none. */
  skill: skillVersion.exactOptional(),
  /** Skills copied into the sandbox, `skill` included. */
  mounts: z.array(skillVersion).readonly(),
  /** Skills that are imported as stubs: each call runs exactly these bytes, in a sandbox of its own. */
  brokered: z.array(skillVersion).readonly(),
  blobs: z.array(blob).readonly(),
  limits,
  /** Whether the timeout is shorter than the requested one. */
  clamped: z.boolean(),
  needs: z.strictObject({
    network: z.array(z.string()).readonly(),
    /** Names, never values. */
    secrets: z.array(z.string()).readonly(),
    /** Secrets that this machine sends to a host for code that cannot read them: `GH_TOKEN@api.github.com`. */
    uses: z.array(z.string()).readonly().exactOptional(),
    project: z.enum(["none", "read", "write"]),
    /** "none": without a sandbox. */
    isolation: z.literal("none").exactOptional(),
  }),
  owner: z.string(),
  session: z.string().exactOptional(),
  /** The session id of the subagent of that session that called. */
  subagent: z.string().exactOptional(),
  /** The transport of the call. */
  door: z.string(),
  /** The name by which the user knows the caller, such as the agent's name. */
  label: z.string().exactOptional(),
});

export type RunSpec = z.infer<typeof runSpec>;
export type SkillVersion = z.infer<typeof skillVersion>;

/** The result of a run, as every transport reports it. */
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

/** The fields that depend on the status. The schema has no such alternatives, because APIs of models require one object. */
export type RunOutcome =
  { status: "completed"; output: unknown; error?: never } | { status: "failed"; error: RunFailure; output?: never };

export type RunResult = Omit<WrittenResult, keyof RunOutcome> & RunOutcome;
