import type { outcomes } from "./ledger/ledger-line.ts";
import type { SessionRecord } from "./ledger/read-session-records.ts";

export { fromLedgerLine, outcomes, toLedgerLine, whoAndWhere } from "./ledger/ledger-line.ts";
export { ledgerDays, ledgerDirectory, localLedger, openAudit } from "./ledger/disk-ledger.ts";
export { verifyLedger } from "./ledger/verify-ledger.ts";
export type { SessionRecord };

/** How a use ended. */
type Outcome = (typeof outcomes)[number];

/** One use of a tool or a skill, or one step of who allowed what. */
export interface LedgerEntry {
  /** Milliseconds since 1970. */
  readonly at: number;
  /**
   * Absent: a use of a tool or a skill. `start`: a run that goes beyond its sandbox is about to start; `send`: a secret was sent to a host for a
   * run that does not have it; `ask`: a question was shown to a
   * person; `answer`: what they answered; `refusal`: denied without asking; `grant`, `block`, `import`, `revoke`: an approval or a block
   * was given, taken over from elsewhere or taken back by command; `add`, `update`, `remove`: of an installed skill; `dropped`: rows of the
   * ledger were removed. Other versions may write others.
   */
  readonly event?: string;
  /** A tool, or `prompt` for a skill that a person called by `/name`; of an event, the tool that led to it. */
  readonly tool: string;
  /** Who did it: the configured name of a token, `anonymous`, or a user of this machine. */
  readonly caller?: string;
  /** The directory of the session, or the project that a decision is for. */
  readonly project?: string;
  /** The skill's canonical name. */
  readonly skill?: string;
  /** The name that was asked for, where the caller sees no such skill. */
  readonly asked?: string;
  readonly version?: string;
  /** `sha256:…` of all files of that version. */
  readonly digest?: string;
  readonly runId?: string;
  /** What isolated the run; `none`: nothing did. */
  readonly isolation?: string;
  /** Absent in lines of earlier versions. */
  readonly outcome?: Outcome;
  /** Why it failed or was refused. */
  readonly code?: string;
  /** The question, why it was denied, what a run that starts may do, or which secret was sent where. */
  readonly about?: string;
  /** What was answered, such as `trust`; `elsewhere` if a question was decided in another window; or why there was no answer. */
  readonly answer?: string;
  /** What it is allowed by, see `Authorization`, or the grant that it is about. */
  readonly grant?: string;
  /** How many refusals like this one it stands for; of `dropped`, the rows. */
  readonly count?: number;
  readonly sessionId?: string;
  /** The session id of the subagent of that session that called. */
  readonly subagent?: string;
  /** The door that the call came through. */
  readonly door: string;
}

/** The port to the record of uses. Bounded: the oldest entries are removed, decisions and runs apart from reads and refusals. */
export interface Ledger {
  /** Records an entry. Never throws; returns why it could not be recorded. */
  record(entry: LedgerEntry): string | undefined;
  /** Waits until what was recorded survives this machine; returns why it does not. Never rejects. Absent: it does when `record` returns. */
  flush?(): Promise<string | undefined>;
  /** The entries, oldest first where they were recorded in the order of their times; unreadable lines are skipped. */
  read(): AsyncIterable<LedgerEntry>;
  /** Entries after it are ignored. Idempotent; never throws. */
  close(): void;
}

/** A record as another process finds it. A session whose process ended without closing it counts as closed when it last wrote. */
export type KnownSession = SessionRecord & { readonly isOpen: boolean };

/** The port to the records of sessions. Bounded: the oldest are removed. */
export interface SessionRecords {
  /** Stores what is known of a session of this process, in place of what was; `session` identifies it. Never throws: nothing depends on it. */
  keep(session: object, record: SessionRecord): void;
  /** Those of every process of this user: open ones first, then the newest. Throws UNREADABLE. */
  read(): Promise<readonly KnownSession[]>;
  /** Writes what is waiting. Records after it are ignored. Idempotent; never rejects. */
  close(): Promise<void>;
}

/** How many names a record has; beyond, only their number is recorded. */
export const maxReportedNames = 300;
/** How many sessions of one process are recorded. */
export const maxSessions = 50;
export const maxForms = 10;
/** How many characters of a text are recorded. */
export const maxTextLength = 1_024;
