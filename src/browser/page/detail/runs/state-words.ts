import type { RunState } from "../../../wire/runs.ts";

export const stateWords: Readonly<Record<RunState, string>> = {
  queued: "Waiting for its turn",
  running: "Running",
  interrupted: "Interrupted",
  completed: "Completed",
  failed: "Failed",
  refused: "Refused",
  cancelled: "Cancelled",
};
