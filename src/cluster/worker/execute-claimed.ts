import type { App } from "../../runtime/app.ts";
import { isSkillsError } from "../../base/errors.ts";
import { type RunSpec, runSpec } from "../../runtime/runs.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Database } from "../database.ts";
import { type SubmittedContext, submittedContext } from "../runs/submitted-context.ts";
import type { ClaimedRun, RunEnding } from "../runs/run-rows.ts";
import type { SkillPacks } from "../skills.ts";
import { openRunReport } from "./run-report.ts";
import { RunTakenAway } from "./leases.ts";
import { toSubmittedCaller } from "./submitted-caller.ts";

export interface WorkerStores {
  readonly app: App;
  readonly packs: SkillPacks;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
}

/** How long sending the last events of a run may take. */
const lastEventsMs = 5_000;

/** Executes a run that this worker has claimed. Resolves with its end; undefined if the worker has lost the run. */
export async function executeClaimed(
  claimed: ClaimedRun,
  stores: WorkerStores,
  abort: AbortSignal,
): Promise<RunEnding | undefined> {
  const { app, packs, database, clock, log } = stores;
  let spec: RunSpec, context: SubmittedContext;
  try {
    spec = runSpec.parse(JSON.parse(claimed.spec));
    context = submittedContext.parse(JSON.parse(claimed.context));
  } catch (error) {
    log("error", `The run ${claimed.runId} cannot be read: ${String(error)}`);
    return {
      status: "refused",
      error: toErrorText("INTERNAL", "The run was submitted by another version of acp-skills."),
      events: "[]",
    };
  }
  const { isFollowed } = context;
  const stream = openRunReport(database, claimed, { clock, isFollowed, skill: spec.skill?.name });
  try {
    const caller = await toSubmittedCaller(spec, context, {
      app,
      packs,
      clock,
      onEvent: (event) => stream.push(event),
      signal: abort,
    });
    const runs = await app.runs();
    const { result } = await runs.executeAuthorized({
      spec,
      caller,
      by: context.by,
      once: new Set(context.calls),
      refused: new Set(context.refused),
      signal: abort,
      notify: (step) => stream.push({ runId: spec.runId, ...step }),
    });
    stream.push({ type: "ended", status: result.status });
    return { status: result.status, result: JSON.stringify(result), events: await stream.end(lastEventsMs) };
  } catch (error) {
    const reason: unknown = abort.reason;
    if (abort.aborted && reason instanceof RunTakenAway && !reason.isCancelled) return undefined;
    const status = abort.aborted ? "cancelled" : "refused";
    stream.push({ type: "ended", status });
    const events = await stream.end(lastEventsMs);
    if (abort.aborted) return { status, events };
    if (isSkillsError(error) && error.code !== "INTERNAL")
      return { status, error: toErrorText(error.code, error.message, error.facts.hint), events };
    log(
      "error",
      `The run ${claimed.runId} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
    return { status, error: toErrorText("INTERNAL", "Internal error."), events };
  }
}

/** Formats an error as JSON for the row of a run. */
export function toErrorText(code: string, message: string, hint?: unknown): string {
  return JSON.stringify({ code, message, ...(typeof hint === "string" && { hint }) });
}
