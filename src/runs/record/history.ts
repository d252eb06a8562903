import { isSkillsError } from "../../errors.ts";
import type { RunListener, RunStep } from "../run-event.ts";
import type { RunSpec } from "../run-spec.ts";
import type { KeptRun } from "../store/run-store.ts";
import type { RunResult } from "./run-result.ts";

/** Passes a run's events on and keeps them, without what was printed, for its record. */
export interface History {
  readonly tell: (step: RunStep) => void;
  /** Ends it; tells so. */
  readonly completed: (result: RunResult) => KeptRun;
  readonly failed: (error: unknown, isCancelled: boolean) => KeptRun;
}

/** Of further events only the last is kept. */
const maxKeptEvents = 200;

export function createHistory(
  spec: RunSpec,
  { now, onEvent }: { readonly now: () => number; readonly onEvent: RunListener | undefined },
): History {
  const createdAt = now();
  const events: KeptRun["events"][number][] = [];
  const tell = (step: RunStep): void => {
    if (step.type !== "printed" && (events.length < maxKeptEvents || step.type === "ended"))
      events.push({ atMs: Math.max(0, now() - createdAt), ...step });
    onEvent?.({ runId: spec.runId, ...step });
  };
  const end = (status: KeptRun["status"], outcome: Pick<KeptRun, "result" | "error">): KeptRun => {
    tell({ type: "ended", status });
    return { spec, createdAt, status, events, ...outcome };
  };
  return {
    tell,
    completed: (result) => end(result.status, { result }),
    failed(error, isCancelled) {
      if (isCancelled) return end("cancelled", {});
      // The detail of a failure of ours is in the log.
      return isSkillsError(error) && error.code !== "INTERNAL"
        ? end("refused", { error: { code: error.code, message: error.message } })
        : end("refused", { error: { code: "INTERNAL", message: "Internal error." } });
    },
  };
}
