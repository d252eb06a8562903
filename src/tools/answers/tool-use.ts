import type { SkillsError } from "../../errors.ts";
import type { RunListener } from "../../runs/run-event.ts";
import type { Skill } from "../../skills/skill.ts";
import type { Door, ToolCaller } from "../tool.ts";

/** One completed call of a tool, for the ledger. */
export interface ToolUse {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly tool: string;
  /** Canonical name. */
  readonly skill?: string;
  readonly version?: string;
  readonly runId?: string;
  /** `refused`: nothing was run or changed. */
  readonly outcome?: "completed" | "failed" | "refused";
  /** Why it was refused or failed: a code of an error, or the type of an exception. */
  readonly code?: string;
  readonly sessionId?: string;
  readonly door: Door;
}

/** How a call ended. */
export type Ending = Pick<ToolUse, "outcome" | "code" | "runId">;

export function toToolUse(
  at: number,
  tool: string,
  { sessionId, door }: Pick<ToolCaller, "sessionId" | "door">,
  skill: Pick<Skill, "name" | "version"> | undefined,
  ending: Ending,
): ToolUse {
  return {
    at,
    tool,
    ...(skill !== undefined && { skill: skill.name, version: skill.version }),
    ...ending,
    ...(sessionId !== undefined && { sessionId }),
    door,
  };
}

/** The outcome of a call that returned: a result with `status: "failed"` means that the run failed. */
export function endingOf(output: unknown): Ending {
  const { status, run_id: runId, error } = output as Partial<Record<string, unknown>>;
  const run = typeof runId === "string" ? { runId } : {};
  if (status !== "failed") return { outcome: "completed", ...run };
  const { code, type } = (error ?? {}) as Partial<Record<string, unknown>>;
  const why = code ?? type;
  return { outcome: "failed", ...(typeof why === "string" && { code: why }), ...run };
}

export function endingOfError({ code }: SkillsError): Ending {
  return { outcome: code === "INTERNAL" ? "failed" : "refused", code };
}

export const cancelledEnding: Ending = { outcome: "failed", code: "CANCELLED" };

/** A listener that reports each skill that code inside a run called, once its own run has ended. */
export function onSkillCalls(report: (skill: Pick<Skill, "name" | "version">, ending: Ending) => void): RunListener {
  const called = new Map<string, Pick<Skill, "name" | "version">>();
  return (event) => {
    if (event.type === "skill_called") called.set(event.calledRunId, { name: event.skill, version: event.version });
    const skill = event.type === "ended" ? called.get(event.runId) : undefined;
    if (event.type !== "ended" || skill === undefined) return;
    const { runId, status } = event;
    report(skill, status === "cancelled" ? { ...cancelledEnding, runId } : { outcome: status, runId });
  };
}
