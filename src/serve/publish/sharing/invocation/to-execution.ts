import type { StoredRun } from "../../../../runtime/runs.ts";
import type { executionStates } from "../../../../wire/skill-sharing.ts";

type State = (typeof executionStates)[number];

/** A run as an execution of Skill Sharing. */
export interface Execution {
  readonly id: string;
  readonly state: State;
  /** Once it has ended: what it answers, besides its id and status. */
  readonly outcome?: Readonly<Record<string, unknown>>;
}

const states: Readonly<Record<StoredRun["status"], State>> = {
  queued: "accepted",
  running: "running",
  completed: "completed",
  failed: "failed",
  // It never started, which is told with the reason.
  refused: "failed",
  cancelled: "cancelled",
  interrupted: "failed",
};

/** An execution from the record of its run. Pure. */
export function toExecution({
  spec,
  status,
  result,
  error,
}: Pick<StoredRun, "spec" | "status" | "result" | "error">): Execution {
  const state = states[status];
  const execution = { id: spec.runId, state };
  if (state === "accepted" || state === "running") return execution;
  if (result !== undefined) return { ...execution, outcome: result };
  return { ...execution, outcome: endedWithoutResult(status, error) };
}

/** The outcome of a run that has none of its own: it was refused, cancelled, or its process ended before it did. */
function endedWithoutResult(
  status: StoredRun["status"],
  error?: { readonly code: string; readonly message: string },
): Record<string, unknown> {
  if (status === "cancelled") return { error: { type: "CancelledError", message: "The execution was cancelled." } };
  if (error !== undefined) return { error: { type: "RefusedError", code: error.code, message: error.message } };
  const message = "The server was stopped before the execution ended.";
  return { error: { type: "InterruptedError", code: "INTERNAL", message } };
}
