/** One use of a tool or a skill. */
export interface LedgerEntry {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** A tool, or `prompt` for a skill that a person called by `/name`. */
  readonly tool: string;
  /** The skill's canonical name. */
  readonly skill?: string;
  readonly version?: string;
  readonly runId?: string;
  /** Absent in lines of earlier versions. */
  readonly outcome?: Outcome;
  /** Why it failed or was refused. */
  readonly code?: string;
  readonly sessionId?: string;
  /** The door that the call came through. */
  readonly door: string;
}

type Outcome = (typeof outcomes)[number];

export const outcomes = ["completed", "failed", "refused"] as const;

/** The port to the record of uses. Bounded: the oldest entries are removed. */
export interface Ledger {
  /** Keeps an entry. Never throws: an answer does not depend on the ledger. */
  record(entry: LedgerEntry): void;
  /** The entries, oldest first; unreadable lines are skipped. */
  read(): AsyncIterable<LedgerEntry>;
  /** Entries after it are ignored. Idempotent; never throws. */
  close(): void;
}
