/** An ACP session that was, or is, connected on this machine. */
export interface ShownSession {
  readonly id: string;
  readonly agent: string;
  readonly editor: string;
  readonly directory?: string | undefined;
  readonly openedAt: number;
  /** Absent while the session is open. */
  readonly closedAt?: number | undefined;
  /** The forms in which skills are announced to the editor: `available_skills_update`, `available_commands_update`, … */
  readonly forms: readonly string[];
  /** The last announcement: its time, the number of skills, and their names. */
  readonly announced?: { readonly at: number; readonly skills: number; readonly names: readonly string[] } | undefined;
  /** Whether the model has the tools of acp-skills. */
  readonly tools: boolean;
  /** Newest first. */
  readonly used: readonly {
    readonly at: number;
    readonly tool: string;
    readonly skill?: string | undefined;
    readonly outcome?: string | undefined;
  }[];
}

/** `GET /api/sessions`: open sessions first, then the latest. The `sessions` event says that the list changed. */
export interface SessionList {
  readonly sessions: readonly ShownSession[];
}

/** `GET /api/budget`: the cost, in estimated tokens, of the skills that models see in their context. */
export interface Budget {
  /** How many skills models see. */
  readonly skills: number;
  readonly listed: number;
  readonly instructions: number;
  readonly agents: readonly AgentBudget[];
}

/** The skills that one agent cuts or leaves out, by its published limits. */
export interface AgentBudget {
  readonly agent: string;
  /** The limits, in a sentence. */
  readonly says: string;
  /** The URL at which the limits are published. */
  readonly reference: string;
  /** Ids of the skills whose description the agent cuts. */
  readonly truncated: readonly string[];
  /** Ids of the skills that the agent leaves out. */
  readonly omitted: readonly string[];
}

/**
 * The header with the key of a page's session. Browsers send cookies of 127.0.0.1 to every port, and so to servers of other users of the
 * machine. The key stays in the page's sessionStorage, which no other port can read.
 */
export const sessionHeader = "x-acp-skills-session";

/** The answer to `POST /api/session`. */
export interface SignInResponse {
  readonly key: string;
}
