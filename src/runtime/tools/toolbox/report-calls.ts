import { type SkillsError, isSkillsError } from "../../../base/errors.ts";
import type { LedgerEntry } from "../../ledger.ts";
import type { RunListener } from "../../../wire/run-event.ts";
import type { ToolCaller, UsedSkill } from "../tool.ts";

/** How a call ended. */
export type Ending = Pick<LedgerEntry, "outcome" | "code" | "runId">;

/** A call that was made. */
interface MadeCall {
  readonly name: string;
  readonly caller: ToolCaller;
  readonly signal: AbortSignal;
  /** The skill that was asked for, where none was used. */
  readonly named: () => UsedSkill | undefined;
}

interface Done<Output> {
  readonly output: Output;
  readonly ending: Ending;
  readonly skill?: UsedSkill | undefined;
}

/** Reports every call once, however it ended, and the skills that code called meanwhile. */
export interface CallReporter {
  /** Throws what `work` throws, as an error for the caller; the reason of the signal once that is aborted. */
  reported<Output>(call: MadeCall, work: (onEvent: RunListener) => Promise<Done<Output>>): Promise<Output>;
  /** Reports the skills that code inside a run calls. */
  skillCalls(caller: ToolCaller): RunListener;
}

export function createCallReporter({
  onUse,
  now,
  failed,
  toCallError,
}: {
  readonly onUse: ((use: LedgerEntry) => void) | undefined;
  readonly now: () => number;
  /** Told of a failure to report. */
  readonly failed: (error: unknown) => void;
  readonly toCallError: (error: unknown) => SkillsError;
}): CallReporter {
  function report(caller: ToolCaller, tool: string, ending: Ending, skill: UsedSkill | undefined): void {
    const { sessionId, door } = caller;
    const digest = skill?.digest;
    const used = skill && { skill: skill.name, version: skill.version, ...(digest !== undefined && { digest }) };
    try {
      onUse?.({ at: now(), tool, ...used, ...ending, ...(sessionId !== undefined && { sessionId }), door });
    } catch (error) {
      // The call does not fail because of the ledger.
      failed(error);
    }
  }

  return {
    async reported({ name, caller, signal, named }, work) {
      let run: Pick<Ending, "runId"> = {};
      const onEvent: RunListener = (event) => {
        // The first event is of the run itself, not of a skill that it calls.
        if (run.runId === undefined) run = { runId: event.runId };
        caller.onEvent?.(event);
      };
      try {
        const { output, ending, skill } = await work(onEvent);
        report(caller, name, ending, skill);
        return output;
      } catch (error) {
        const isUnknown = isSkillsError(error) && error.code === "SKILL_NOT_FOUND";
        const used = isUnknown ? undefined : named();
        if (signal.aborted) {
          report(caller, name, { ...cancelled, ...run }, used);
          throw signal.reason;
        }
        const refusal = toCallError(error);
        const outcome = refusal.code === "INTERNAL" ? "failed" : "refused";
        report(caller, name, { outcome, code: refusal.code, ...run }, used);
        throw refusal;
      }
    },
    skillCalls: (caller) =>
      onSkillCalls((skill, ending) => {
        report(caller, "execute_skill", ending, skill);
      }),
  };
}

const cancelled: Ending = { outcome: "failed", code: "CANCELLED" };

/** The outcome of a call that returned: a result with `status: "failed"` means that the run failed. */
export function endingOf(output: unknown): Ending {
  const { status, run_id: runId, error } = output as Partial<Record<string, unknown>>;
  const run = typeof runId === "string" ? { runId } : {};
  if (status !== "failed") return { outcome: "completed", ...run };
  const { code, type } = (error ?? {}) as Partial<Record<string, unknown>>;
  const why = code ?? type;
  return { outcome: "failed", ...(typeof why === "string" && { code: why }), ...run };
}

/** A listener that reports each skill that code inside a run called, once its own run has ended. */
export function onSkillCalls(report: (skill: UsedSkill, ending: Ending) => void): RunListener {
  const called = new Map<string, UsedSkill>();
  return (event) => {
    if (event.type === "skill_called")
      called.set(event.calledRunId, { name: event.skill, version: event.version, digest: event.digest });
    const skill = event.type === "ended" ? called.get(event.runId) : undefined;
    if (event.type !== "ended" || skill === undefined) return;
    const { runId, status } = event;
    report(skill, status === "cancelled" ? { ...cancelled, runId } : { outcome: status, runId });
  };
}
