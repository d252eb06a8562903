/** An ACP session that was, or is, connected on this machine. */
export interface ShownSession {
  readonly id: string;
  readonly agent: string;
  readonly editor: string;
  readonly directory?: string | undefined;
  readonly openedAt: number;
  /** Absent while it is open. */
  readonly closedAt?: number | undefined;
  /** How skills are announced to its editor: `available_skills_update`, `available_commands_update`, … */
  readonly forms: readonly string[];
  /** The last announcement: how many skills, when. */
  readonly announced?: { readonly at: number; readonly skills: number; readonly names: readonly string[] } | undefined;
  /** Whether its model has the tools. */
  readonly tools: boolean;
  /** Newest first. */
  readonly used: readonly {
    readonly at: number;
    readonly tool: string;
    readonly skill?: string | undefined;
    readonly outcome?: string | undefined;
  }[];
}

/** `GET /api/sessions`: open ones first, then the latest. The `sessions` event says to read it again. */
export interface SessionList {
  readonly sessions: readonly ShownSession[];
}

/** `GET /api/budget`: what the skills that models see cost in their context. Tokens are estimates. */
export interface Budget {
  /** How many skills models see. */
  readonly skills: number;
  readonly listed: number;
  readonly instructions: number;
  readonly agents: readonly AgentBudget[];
}

/** What one agent does with the list of skills, by its published limits. */
export interface AgentBudget {
  readonly agent: string;
  /** The limits, in a sentence. */
  readonly says: string;
  /** Where they are published. */
  readonly reference: string;
  /** Ids of the skills whose description it cuts. */
  readonly truncated: readonly string[];
  /** Ids of those that it leaves out. */
  readonly omitted: readonly string[];
}

/**
 * The header with the key of a page's session. Browsers send cookies of 127.0.0.1 to every port there, and so to servers of other people; the
 * key stays in the page's sessionStorage, which no other port can read.
 */
export const sessionHeader = "x-acp-skills-session";

/** The answer to `POST /api/session`. */
export interface BrowseSessionResponse {
  readonly key: string;
}
