import type { App } from "../runtime/app.ts";
import type { Caller } from "../runtime/caller.ts";
import type { RunListener } from "../wire/run-event.ts";

/** The fields of the app that MCP servers need. */
export interface McpApp extends Pick<App, "source" | "hasher" | "log" | "clock" | "policyFor" | "version"> {
  readonly toolbox: Pick<App["toolbox"], "call" | "mayRead">;
}

/** The identity of a call among those that the editor shows. */
export interface FollowedCall {
  /** The id of the call in the client's editor, if the client sends it, as Claude's clients do. */
  readonly toolCallId: string | undefined;
  readonly tool: string;
  readonly input: unknown;
}

/** The connection between a running call and the session that follows it. */
export interface Following {
  readonly onEvent: RunListener;
  /** The session id of the subagent that makes the call, if known. The agent may reveal it only during the call. */
  readonly subagent: () => string | undefined;
  /** The signal that is aborted when the user cancels the call, or the subagent that makes it. The reason names what was cancelled. */
  readonly signal: AbortSignal;
  /** Must be called once, when the call ends. */
  readonly ended: () => void;
}

/** A caller over MCP, with the callbacks of its session. */
export interface McpCaller extends Caller {
  /** Whether the client shows questions, if it declares `elicitation`. Not for a wrapped agent: its editor is asked. */
  readonly asksClient?: boolean;
  /** The signal of the current turn, aborted when the user cancels the turn. */
  readonly turn?: AbortSignal;
  /** Whether subagents of the session have called tools. If so, calls that read are followed as well as those that execute. */
  readonly subagents?: { readonly areKnown: boolean } | undefined;
  /** Called when a call begins. Returns undefined if the session does not follow the call. */
  readonly follow?: (call: FollowedCall) => Following | undefined;
  /** Whether the model learns about skills in prompts, so that the instructions of the server have no index. */
  readonly isTaught?: boolean;
  /** Called when a client requests the tools: from then on, its model has them. */
  readonly toolsListed?: () => void;
}

/** The MCP servers of callers over one transport, each with its own address. */
export interface CallerServers<Address> {
  /** Opens a caller's server. Its requests and connections wait for the caller. Rejects with CLOSED after `close`. */
  open(caller: McpCaller | Promise<McpCaller>): Promise<Address>;
  /** Closes every session and connection. Idempotent. */
  close(): Promise<void>;
}
