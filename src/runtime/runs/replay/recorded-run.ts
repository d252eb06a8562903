import { SkillsError } from "../../../base/errors.ts";
import type { RunResult } from "../run-result.ts";
import type { RunStore } from "../store.ts";
import type { StoredRun } from "../store/stored-run.ts";

/** A run that ended with a result, and the runs of skills that its code called, at all depths. */
export interface RecordedRun {
  readonly run: StoredRun & { readonly result: RunResult };
  readonly nested: readonly StoredRun[];
}

/** Reads the record of a run. Throws NOT_EXECUTABLE if there is none, or the run has no result to compare with. */
export async function readRecordedRun(records: Pick<RunStore, "read" | "list">, runId: string): Promise<RecordedRun> {
  const run = await records.read(runId);
  if (run === undefined)
    throw notReplayable(runId, ["it is not among the runs of the last 24 hours"], "acp-skills runs list shows them.");
  const { result, status, error } = run;
  if (result === undefined)
    throw notReplayable(runId, [
      `its status is ${status}${error === undefined ? "" : ` (${error.code})`}, so there is no output to compare with`,
    ]);
  const nested = run.spec.brokered.length === 0 ? [] : await readNested(records, runId);
  return { run: { ...run, result: result as RunResult }, nested };
}

async function readNested(records: Pick<RunStore, "list">, runId: string): Promise<readonly StoredRun[]> {
  const children = new Map<string, StoredRun[]>();
  for await (const run of records.list()) {
    const { parent } = run.spec;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), run]);
  }
  const found: StoredRun[] = [...(children.get(runId) ?? [])];
  // Grows while it is walked; a run has one parent, which is older.
  for (const { spec } of found) found.push(...(children.get(spec.runId) ?? []));
  return found;
}

/** The error for a run that cannot be repeated exactly. Each reason is the end of a sentence. */
export function notReplayable(runId: string, reasons: readonly string[], hint?: string): SkillsError {
  return new SkillsError("NOT_EXECUTABLE", `The run ${runId.slice(0, 80)} cannot be replayed: ${reasons.join("; ")}.`, {
    facts: { reasons, ...(hint !== undefined && { hint }) },
  });
}
