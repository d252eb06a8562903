import type { RunEvent } from "../src/wire/run-event.ts";

/** The event of a run that prints this text. */
export function printed(text: string): RunEvent {
  return { runId: "run_1234567890", type: "printed", text };
}
