import { type Clock, withinTime } from "../../base/clock.ts";
import type { RunStep } from "../../wire/run-event.ts";
import { isOutage } from "../database/database-error.ts";
import type { Database } from "../database.ts";
import { mailboxChannel } from "../runs/mailbox.ts";
import type { ClaimedRun } from "../runs/run-rows.ts";

/** What waits to be sent while the database is not reached; of more, what was printed is dropped. */
const mostWaitingBytes = 1024 * 1024;
/** How many events a record has; of further ones only the last is recorded. */
const maxRecorded = 1_000;
const retryMs = 500;

/** Another run's id where it is about a skill that the code calls. */
type Reported = RunStep & { readonly runId?: string };

/** Sends the events of a run to the member that waits for it, in order, and gathers those that its record has. */
export class RunReport {
  readonly #database: Database;
  readonly #run: Pick<ClaimedRun, "runId" | "fence" | "member">;
  readonly #clock: Clock;
  readonly #isFollowed: boolean;
  readonly #recorded: object[];
  readonly #startedAt: number;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #number = 0;
  #isEnded = false;
  #flushing: Promise<void> | undefined;

  /** `queuedMs`: how long it was in the queue. */
  constructor(
    database: Database,
    run: Pick<ClaimedRun, "runId" | "fence" | "member">,
    options: {
      readonly clock: Clock;
      readonly isFollowed: boolean;
      readonly queuedMs: number;
      readonly skill?: string | undefined;
    },
  ) {
    const { clock, isFollowed, queuedMs, skill } = options;
    [this.#database, this.#run, this.#clock, this.#isFollowed] = [database, run, clock, isFollowed];
    this.#startedAt = clock.now() - queuedMs;
    this.#recorded = [{ atMs: 0, type: "queued", behind: 0, ...(skill !== undefined && { skill }) }];
  }

  push(event: Reported): void {
    const isOwn = event.runId === undefined || event.runId === this.#run.runId;
    if (isOwn && event.type !== "printed" && (this.#recorded.length < maxRecorded || event.type === "ended"))
      this.#recorded.push({ atMs: Math.max(0, Math.round(this.#clock.now() - this.#startedAt)), ...event });
    // The row says that it has ended, and how.
    if (!this.#isFollowed || this.#run.member === null || (isOwn && event.type === "ended")) return;
    const json = JSON.stringify(event);
    if (event.type === "printed" && this.#waitingBytes + json.length > mostWaitingBytes) return;
    this.#waiting.push(json);
    this.#waitingBytes += json.length;
    this.#flushing ??= this.#flush().finally(() => (this.#flushing = undefined));
  }

  /** Goes on until nothing waits. */
  async #flush(): Promise<void> {
    await Promise.resolve();
    while (this.#waiting.length > 0 && !this.#isEnded) {
      const events = this.#waiting;
      [this.#waiting, this.#waitingBytes] = [[], 0];
      try {
        await this.#send(events);
        this.#number += events.length;
      } catch (error) {
        if (!isOutage(error)) throw error;
        this.#waiting.unshift(...events);
        this.#waitingBytes = this.#waiting.reduce((sum, { length }) => sum + length, 0);
        await new Promise<void>((resolve) => this.#clock.after(retryMs, resolve));
      }
    }
  }

  async #send(events: readonly string[]): Promise<void> {
    const { runId, fence, member } = this.#run;
    await this.#database.query(
      `with sent as (
         insert into acp_skills.run_events (run_id, fence, number, event)
         select $1, $2, $3 + place, event from unnest($4::text[]) with ordinality as given(event, place)
         on conflict do nothing returning 1
       )
       select set_config('synchronous_commit', 'off', true), pg_notify($5, $6) from (select from sent limit 1) one`,
      [runId, fence, this.#number, [...events], mailboxChannel(member ?? ""), `changed ${runId}`],
    );
  }

  /** Sends what is left, for a limited time, and returns the events of the record as JSON. */
  async end(patienceMs: number): Promise<string> {
    if (this.#flushing !== undefined) await withinTime(this.#flushing, this.#clock, patienceMs).catch(() => undefined);
    this.#isEnded = true;
    return JSON.stringify(this.#recorded);
  }
}
