import type { SkillCallFailure } from "../../sandbox/sandbox.ts";

/** A skill that code inside called did not complete; the sandbox raises it there as `SkillError`. */
export class SkillCallError extends Error implements SkillCallFailure {
  override readonly name = "SkillCallError";
  readonly type: string;
  readonly runId?: string;

  constructor(type: string, message: string, runId?: string) {
    super(message);
    this.type = type;
    if (runId !== undefined) this.runId = runId;
  }
}
