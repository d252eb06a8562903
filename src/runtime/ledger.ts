import type { outcomes } from "./ledger/disk-ledger.ts";

export { type KnownSession, type SessionRecord, maxReportedNames } from "./ledger/session-records.ts";
export { diskLedger, outcomes } from "./ledger/disk-ledger.ts";

/** One use of a tool or a skill, or one step of who allowed what. */
export interface LedgerEntry {
  /** Milliseconds since 1970. */
  readonly at: number;
  /**
   * Absent: a use of a tool or a skill. `start`: a run that goes beyond its sandbox is about to start; `ask`: a question was shown to a
   * person; `answer`: what they answered; `refusal`: denied without asking; `grant`, `revoke`: an approval was given or taken back by
   * command. Other versions may write others.
   */
  readonly event?: string;
  /** A tool, or `prompt` for a skill that a person called by `/name`; of an event, the tool that led to it. */
  readonly tool: string;
  /** The skill's canonical name. */
  readonly skill?: string;
  readonly version?: string;
  /** `sha256:…` of all files of that version. */
  readonly digest?: string;
  readonly runId?: string;
  /** Absent in lines of earlier versions. */
  readonly outcome?: Outcome;
  /** Why it failed or was refused. */
  readonly code?: string;
  /** The question, why it was denied, or what a run that starts may do. */
  readonly about?: string;
  /** What was answered, such as `trust`; `elsewhere` if a question was decided in another window; or why there was no answer. */
  readonly answer?: string;
  /** What it is allowed by: `once`, `session`, or the id of a grant. */
  readonly grant?: string;
  readonly sessionId?: string;
  /** The door that the call came through. */
  readonly door: string;
}

type Outcome = (typeof outcomes)[number];

/** The port to the record of uses. Bounded: the oldest entries are removed. */
export interface Ledger {
  /** Keeps an entry. Never throws; returns why it could not be kept. */
  record(entry: LedgerEntry): string | undefined;
  /** The entries, oldest first; unreadable lines are skipped. */
  read(): AsyncIterable<LedgerEntry>;
  /** Entries after it are ignored. Idempotent; never throws. */
  close(): void;
}
