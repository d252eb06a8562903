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
  /** Skills imported as stubs: each call runs in a sandbox of its own, and only exactly these bytes. */
  brokered: z.array(skillVersion).readonly(),
  blobs: z.array(blob).readonly(),
  limits,
  /** The timeout is shorter than the one asked for. */
  clamped: z.boolean(),
  needs: z.strictObject({
    network: z.array(z.string()).readonly(),
    /** Names, never values. */
    secrets: z.array(z.string()).readonly(),
    project: z.enum(["none", "read", "write"]),
    /** "none": without a sandbox. */
    isolation: z.literal("none").exactOptional(),
  }),
  owner: z.string(),
  session: z.string().exactOptional(),
  /** Which door the call came through. */
  door: z.string(),
  /** What people know the caller by, such as the agent's name. */
  label: z.string().exactOptional(),
});

export type RunSpec = z.infer<typeof runSpec>;
export type SkillVersion = z.infer<typeof skillVersion>;
