/** One use of a tool or a skill, or one step of who allowed what. */
export interface LedgerEntry {
  /** Milliseconds since 1970. */
  readonly at: number;
  /**
   * Absent: a use of a tool or a skill. `ask`: a person was asked; `answer`: what they answered; `permission`: a request of the agent
   * that was answered for them; `grant`, `revoke`: an approval was given or taken back. Later versions may write others.
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
  /** What a question was about, in words, or what the agent wanted to do. */
  readonly about?: string;
  /** What was answered, such as `trust`; or why there was no answer. */
  readonly answer?: string;
  /** Who answered, or which rule: `editor`, `terminal`, `policy`. */
  readonly by?: string;
  /** What it was allowed by: the id of a grant, `sandbox`, `policy`, `configuration`. */
  readonly grant?: string;
  /** The skill whose code called it. */
  readonly calledBy?: string;
  readonly sessionId?: string;
  /** The door that the call came through. */
  readonly door: string;
}

type Outcome = (typeof outcomes)[number];

export const outcomes = ["completed", "failed", "refused", "asked", "allowed", "denied"] as const;

/** The port to the record of uses. Bounded: the oldest entries are removed. */
export interface Ledger {
  /** Keeps an entry. Never throws: an answer does not depend on the ledger. */
  record(entry: LedgerEntry): void;
  /** The entries, oldest first; unreadable lines are skipped. */
  read(): AsyncIterable<LedgerEntry>;
  /** Entries after it are ignored. Idempotent; never throws. */
  close(): void;
}
