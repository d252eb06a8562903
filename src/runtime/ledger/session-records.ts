/** An ACP session: between whom, and which skills were announced to its editor. Texts are as editor and agent gave them. */
export interface SessionRecord {
  readonly sessionId: string;
  readonly agent: string;
  readonly editor: string;
  /** The session's directory, if it has one. */
  readonly directory?: string | undefined;
  /** Milliseconds since 1970, as all times here. */
  readonly openedAt: number;
  readonly closedAt?: number | undefined;
  /** Names of the updates in which its editor gets skills. */
  readonly forms: readonly string[];
  /** Whether its model has been given the tools. */
  readonly tools: boolean;
  /** The latest list: how many skills, and the first of their slugs. */
  readonly announced?: { readonly at: number; readonly skills: number; readonly names: readonly string[] } | undefined;
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

/** Of more, only the number is recorded. */
export const maxReportedNames = 300;
/** Of one process. */
export const mostSessions = 50;
export const mostForms = 10;
/** Characters of a text. */
export const longestText = 1_024;
