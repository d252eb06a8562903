import type { outcomes } from "./ledger/ledger-line.ts";
import type { SessionRecord } from "./ledger/read-session-records.ts";

export { fromLedgerLine, outcomes, toLedgerLine, whoAndWhere } from "./ledger/ledger-line.ts";
export { ledgerDays, ledgerDirectory, localLedger, openAudit } from "./ledger/disk-ledger.ts";
export { verifyLedger } from "./ledger/verify-ledger.ts";
export type { SessionRecord };

/** The outcome of a use. */
type Outcome = (typeof outcomes)[number];

/** One use of a tool or a skill, or one step of an approval. */
export interface LedgerEntry {
  /** Milliseconds since 1970. */
  readonly at: number;
  /**
   * Absent: a use of a tool or a skill. `start`: a run that goes beyond its sandbox is about to start. `send`: a secret was sent to a host
   * for a run that does not have it. `ask`: a question was shown to the user; `answer`: the user's answer; `refusal`: denied without
   * asking. `grant`, `block`, `import`, `revoke`: an approval or a block was given, imported or taken back by command. `add`, `update`,
   * `remove`: of an installed skill. `dropped`: rows of the ledger were removed. Other versions may write other events.
   */
  readonly event?: string;
  /** A tool, or `prompt` for a skill that the user called by `/name`; of an event, the tool that led to it. */
  readonly tool: string;
  /** The caller: the configured name of a token, `anonymous`, or a user of this machine. */
  readonly caller?: string;
  /** The directory of the session, or the project that a decision is for. */
  readonly project?: string;
  /** The skill's canonical name. */
  readonly skill?: string;
  /** The name that was asked for, if the caller sees no such skill. */
  readonly asked?: string;
  readonly version?: string;
  /** `sha256:…` of all files of that version. */
  readonly digest?: string;
  readonly runId?: string;
  /** The isolation of the run; `none` if it had none. */
  readonly isolation?: string;
  /** Absent in lines of earlier versions. */
  readonly outcome?: Outcome;
  /** The error code of a failure or a refusal. */
  readonly code?: string;
  /** The question, why it was denied, the permissions of a run that starts, or a secret that was sent and its host. */
  readonly about?: string;
  /** The answer, such as `trust`; `elsewhere` if a question was decided in another window; or why there was no answer. */
  readonly answer?: string;
  /** The grant or rule that allows it, see `Authorization`, or the grant that it is about. */
  readonly grant?: string;
  /** How many refusals like this one the entry stands for; of `dropped`, how many rows. */
  readonly count?: number;
  readonly sessionId?: string;
  /** The session id of the calling subagent of the session. */
  readonly subagent?: string;
  /** The transport of the call, such as `mcp`. */
  readonly door: string;
}

/** The port to the record of uses. Bounded: the oldest entries are removed, decisions and runs apart from reads and refusals. */
export interface Ledger {
  /** Records an entry. Never throws; returns why it could not be recorded. */
  record(entry: LedgerEntry): string | undefined;
  /** Waits until recorded entries survive this machine; returns why they do not. Never rejects. Absent: they do once `record` returns. */
  flush?(): Promise<string | undefined>;
  /** The entries, oldest first if they were recorded in the order of their times; unreadable lines are skipped. */
  read(): AsyncIterable<LedgerEntry>;
  /** Closes the ledger: later entries are ignored. Idempotent; never throws. */
  close(): void;
}

/** A record as another process reads it. A session whose process ended without closing it counts as closed at its last write. */
export type ListedSession = SessionRecord & { readonly isOpen: boolean };

/** The port to the records of sessions. Bounded: the oldest are removed. */
export interface SessionRecords {
  /** Stores a session of this process, and replaces its earlier record; `session` identifies it. Never throws: nothing depends on it. */
  keep(session: object, record: SessionRecord): void;
  /** The records of every process of this user: open sessions first, then the newest. Throws UNREADABLE. */
  read(): Promise<readonly ListedSession[]>;
  /** Writes waiting records; later records are ignored. Idempotent; never rejects. */
  close(): Promise<void>;
}

/** Maximum number of names in a record; beyond, only their number is recorded. */
export const maxReportedNames = 300;
/** Maximum number of recorded sessions of one process. */
export const maxSessions = 50;
export const maxForms = 10;
/** Maximum number of recorded characters of a text. */
export const maxTextLength = 1_024;
