import type { StoredBlob } from "../../blobs/blob-store.ts";
import type { Program, RunLimits } from "../../sandbox/sandbox.ts";
import type { Skill } from "../../skills/skill.ts";

/** A run that a caller asked for, after everything about the request itself was checked. */
export interface RunPlan {
  /** Whose code runs, and whose permissions count. Undefined for code that the model wrote: that has none. */
  readonly skill?: Skill;
  readonly program: Program;
  /** What is laid into the sandbox, `skill` included. */
  readonly mounted: readonly Skill[];
  /** What imports as a stub, and runs in a sandbox of its own when it is called (CONTRACT C-5.5). */
  readonly brokered: readonly Skill[];
  readonly blobs: readonly StoredBlob[];
  readonly limits: RunLimits;
  /** Less time is given than was asked for. */
  readonly clamped: boolean;
}
