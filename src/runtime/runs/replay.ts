import { isSkillsError } from "../../base/errors.ts";
import type { RunEnvironment } from "./execute/prepare-run.ts";
import type { RunCaller } from "./run-caller.ts";
import type { RunEvent } from "../../wire/run-event.ts";
import type { RunResult, RunSpec } from "./run-spec.ts";
import type { RunStore } from "./run-store.ts";
import { type Outcome, type ReplayComparison, compareOutcomes, readOutcome } from "./replay/outcome.ts";
import { type RecordedRun, notReplayable, planReplay, readRecordedRun } from "./replay/plan-replay.ts";

export type { JsonDifference } from "./replay/outcome.ts";

/** A recorded run that was run again. */
export interface Replay extends ReplayComparison {
  readonly replays: string;
  /** Whether the output is the same. */
  readonly same: boolean;
  /** What no digest names, and may have changed: sentences for people. */
  readonly notes: readonly string[];
  /** The spec of the new run. */
  readonly spec: RunSpec;
  readonly result: RunResult;
}

export interface ReplayOptions {
  readonly records: Pick<RunStore, "read" | "list">;
  readonly environment: Pick<RunEnvironment, "findPackages">;
  readonly newRunId: () => string;
  /** Checks and runs, as any other run. */
  readonly run: (spec: RunSpec, caller: RunCaller, signal: AbortSignal) => Promise<RunResult>;
}

/**
 * Runs a recorded run again, whoever its owner was, and compares. Throws NOT_EXECUTABLE if bytes that it used or made are gone, and
 * what any run throws that does not start.
 */
export async function replayRun(
  runId: string,
  given: RunCaller,
  signal: AbortSignal,
  { records, environment, newRunId, run }: ReplayOptions,
): Promise<Replay> {
  const recorded = await readRecordedRun(records, runId);
  const { spec, caller } = await planReplay(recorded, { runId: newRunId(), caller: given, environment, signal });
  const before = await outcomeBefore(recorded, given);
  const events: { readonly atMs: number; readonly type: string }[] = [];
  const onEvent = (event: RunEvent): void => {
    if (event.type === "blob_kept") events.push({ atMs: 0, ...event });
    given.onEvent?.(event);
  };
  const result = await run(spec, { ...caller, onEvent }, signal);
  const after = await readOutcome({ result, events }, caller.blobs, caller.owner);
  const comparison = compareOutcomes(before, after);
  const same = comparison.differences.length === 0;
  return { replays: runId, same, ...comparison, notes: notesOf(recorded, spec, result), spec, result };
}

async function outcomeBefore({ run }: RecordedRun, { blobs }: RunCaller): Promise<Outcome> {
  try {
    return await readOutcome(run, blobs, run.spec.owner);
  } catch (error) {
    if (!isSkillsError(error) || error.code !== "BLOB_NOT_FOUND") throw error;
    throw notReplayable(run.spec.runId, [`the blob ${String(error.facts.blobId)} of its output is no longer stored`]);
  }
}

function notesOf({ run, nested }: RecordedRun, { needs }: RunSpec, { limits_applied }: RunResult): readonly string[] {
  const all = [needs, ...nested.map(({ spec }) => spec.needs)];
  const secrets = [...new Set(all.flatMap((each) => each.secrets))];
  const network = [...new Set(all.flatMap((each) => each.network))];
  const { isolation } = run.result.limits_applied;
  return [
    ...(secrets.length === 0
      ? []
      : [`The values of ${secrets.join(", ")} were read again and may be others than then.`]),
    ...(network.length === 0
      ? []
      : [`It may connect to ${network.join(", ")}, whose answers may be others than then.`]),
    ...(isolation === limits_applied.isolation
      ? []
      : [`It was isolated by ${isolation} then, and by ${limits_applied.isolation} now.`]),
  ];
}
