import { type Clock, withinTime } from "../../base/clock.ts";
import { inBatches } from "../../base/promises.ts";
import type { RunStep } from "../../wire/run-event.ts";
import { duringOutages } from "../database/during-outages.ts";
import type { Database } from "../database.ts";
import { mailboxChannel } from "../runs/mailbox.ts";
import type { ClaimedRun } from "../runs/run-rows.ts";

/** The maximum size of events that wait in an outage; beyond it, printed output is dropped. */
const maxWaitingBytes = 1024 * 1024;
/** The maximum number of events in a record; of further ones only the end is recorded. */
const maxRecorded = 1_000;

/** An event; it has another run's id if it is about a skill that the code calls. */
type Reported = RunStep & { readonly runId?: string };

/** Sends the events of a run in order to the member that waits for it, and gathers the events of the record. */
interface RunReport {
  push(event: Reported): void;
  /** Sends the remaining events for at most `patienceMs` milliseconds. Returns the events of the record as JSON. */
  end(patienceMs: number): Promise<string>;
}

export function openRunReport(
  database: Database,
  { runId, fence, member, queuedMs }: Pick<ClaimedRun, "runId" | "fence" | "member" | "queuedMs">,
  {
    clock,
    isFollowed,
    skill,
  }: { readonly clock: Clock; readonly isFollowed: boolean; readonly skill?: string | undefined },
): RunReport {
  const startedAt = clock.now() - queuedMs;
  const recorded: object[] = [{ atMs: 0, type: "queued", behind: 0, ...(skill !== undefined && { skill }) }];
  const ended = new AbortController();
  let [sent, waitingBytes] = [0, 0];
  let sending: Promise<unknown> = Promise.resolve();

  const send = inBatches<string>(async (events) => {
    waitingBytes = 0;
    const once = async (): Promise<unknown> =>
      await database.query(
        `with sent as (
           insert into acp_skills.run_events (run_id, fence, number, event)
           select $1, $2, $3 + place, event from unnest($4::text[]) with ordinality as given(event, place)
           on conflict do nothing returning 1
         )
         select set_config('synchronous_commit', 'off', true), pg_notify($5, $6) from (select from sent limit 1) one`,
        [runId, fence, sent, [...events], mailboxChannel(member ?? ""), `changed ${runId}`],
      );
    await duringOutages(once, { clock, signal: ended.signal });
    sent += events.length;
  });

  return {
    push(event) {
      const isOwn = event.runId === undefined || event.runId === runId;
      if (isOwn && event.type !== "printed" && (recorded.length < maxRecorded || event.type === "ended"))
        recorded.push({ atMs: Math.max(0, Math.round(clock.now() - startedAt)), ...event });
      // The end is not sent, because the row of the run has it.
      if (!isFollowed || member === null || (isOwn && event.type === "ended")) return;
      const json = JSON.stringify(event);
      if (event.type === "printed" && waitingBytes + json.length > maxWaitingBytes) return;
      waitingBytes += json.length;
      sending = send(json).catch(() => undefined);
    },
    async end(patienceMs) {
      await withinTime(sending, clock, patienceMs);
      ended.abort();
      return JSON.stringify(recorded);
    },
  };
}
