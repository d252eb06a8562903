import { type SkillsError, isSkillsError } from "../../../base/errors.ts";
import { type LedgerEntry, whoAndWhere } from "../../ledger.ts";
import type { RunEvent, RunListener } from "../../../wire/run-event.ts";
import type { ToolCaller, UsedSkill } from "../tool.ts";

/** How a call ended. */
export type Ending = Pick<LedgerEntry, "outcome" | "code" | "runId" | "isolation" | "grant">;

/** A call that was made. */
interface MadeCall {
  readonly name: string;
  readonly caller: ToolCaller;
  readonly signal: AbortSignal;
  /** The name that it asks for. */
  readonly asked: string | undefined;
  /** The skill of that name, if the caller sees it. */
  readonly named: (asked: string) => UsedSkill | undefined;
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

export function createCallReporter(options: {
  readonly onUse: ((use: LedgerEntry) => void) | undefined;
  readonly now: () => number;
  /** Receives a failure to report. */
  readonly failed: (error: unknown) => void;
  readonly toCallError: (error: unknown) => SkillsError;
}): CallReporter {
  const { onUse, now, failed, toCallError } = options;
  function report(
    caller: ToolCaller,
    tool: string,
    ending: Ending & Pick<LedgerEntry, "asked">,
    skill: UsedSkill | undefined,
  ): void {
    const { sessionId, door } = caller;
    const digest = skill?.digest;
    const used = skill && { skill: skill.name, version: skill.version, ...(digest !== undefined && { digest }) };
    try {
      const facts = { ...whoAndWhere(caller), ...used, ...ending, ...(sessionId !== undefined && { sessionId }) };
      onUse?.({ at: now(), tool, ...facts, door });
    } catch (error) {
      // The call does not fail because of the ledger.
      failed(error);
    }
  }

  return {
    async reported({ name, caller, signal, asked, named }, work) {
      let run: Ending = {};
      const onEvent: RunListener = (event) => {
        // The first event is of the run itself, not of a skill that it calls.
        run = { runId: event.runId, ...run };
        if (event.runId === run.runId) run = { ...run, ...startOf(event) };
        caller.onEvent?.(event);
      };
      try {
        const { output, ending, skill } = await work(onEvent);
        report(caller, name, { ...run, ...ending }, skill);
        return output;
      } catch (error) {
        const isUnknown = isSkillsError(error, "SKILL_NOT_FOUND");
        const used = isUnknown || asked === undefined ? undefined : named(asked);
        const unseen = used === undefined && asked !== undefined ? { asked } : {};
        if (signal.aborted) {
          report(caller, name, { ...cancelled, ...run, ...unseen }, used);
          throw signal.reason;
        }
        const refusal = toCallError(error);
        const outcome = refusal.code === "INTERNAL" ? "failed" : "refused";
        report(caller, name, { outcome, code: refusal.code, ...run, ...unseen }, used);
        throw refusal;
      }
    },
    skillCalls: (caller) => onSkillCalls((skill, ending) => report(caller, "execute_skill", ending, skill)),
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

/** What isolates a run that starts, and what allows it. */
function startOf(event: RunEvent): Pick<Ending, "isolation" | "grant"> {
  if (event.type !== "started") return {};
  return { isolation: event.isolation, ...(event.by !== undefined && { grant: event.by }) };
}

/** A listener that reports each skill that code inside a run called, once its own run has ended. */
export function onSkillCalls(report: (skill: UsedSkill, ending: Ending) => void): RunListener {
  const called = new Map<string, { readonly skill: UsedSkill; readonly start?: Ending }>();
  return (event) => {
    if (event.type === "skill_called") {
      const { skill: name, version, digest } = event;
      called.set(event.calledRunId, { skill: { name, version, digest } });
    }
    const { skill, start } = called.get(event.runId) ?? {};
    if (skill === undefined) return;
    const { runId } = event;
    if (event.type === "started") called.set(runId, { skill, start: startOf(event) });
    if (event.type !== "ended") return;
    called.delete(runId);
    report(skill, { ...(event.status === "cancelled" ? cancelled : { outcome: event.status }), runId, ...start });
  };
}
