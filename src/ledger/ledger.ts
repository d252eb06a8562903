/** That a tool was used. */
export interface LedgerEntry {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly tool: string;
  /** The skill's canonical name, where one was used. */
  readonly skill?: string;
  readonly sessionId?: string;
  /** Through which door the call came. */
  readonly door: string;
}

/** The port to the record of which skill was used when, by which tool, in which session. Bounded: the oldest entries go. */
export interface Ledger {
  /** Keeps an entry. Never throws: an answer does not depend on the ledger. */
  record(entry: LedgerEntry): void;
  /** What is kept, oldest first; what cannot be understood is passed over. */
  read(): AsyncIterable<LedgerEntry>;
  /** Nothing is recorded after it. May be called more than once; never throws. */
  close(): void;
}
