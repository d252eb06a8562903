import type { App } from "../runtime/app.ts";
import type { Caller } from "../runtime/caller.ts";
import type { RunListener } from "../wire/run-event.ts";

/** The part of the app that MCP servers need. */
export interface McpApp extends Pick<App, "source" | "hasher" | "log" | "clock" | "policyFor" | "version"> {
  readonly toolbox: Pick<App["toolbox"], "call" | "mayRead">;
}

/** What identifies a call among those that the editor shows. */
export interface FollowedCall {
  /** Its id in the client's editor, if the client sends it, as Claude's do. */
  readonly toolCallId: string | undefined;
  readonly tool: string;
  readonly input: unknown;
}

/** A running call, as its session follows it. */
export interface Following {
  readonly onEvent: RunListener;
  /** The session id of the subagent that makes it, as far as is known: the agent may say so during the call. */
  readonly subagent: () => string | undefined;
  /** Aborted when the user cancels that subagent, or this call, with what was cancelled as the reason. */
  readonly signal: AbortSignal;
  /** To be called once. */
  readonly ended: () => void;
}

/** A caller, and what its session is notified of. */
export interface McpCaller extends Caller {
  /** Questions are shown by the client, if it declares `elicitation`. Not for a wrapped agent: its editor is asked. */
  readonly asksClient?: boolean;
  /** The signal of the current turn, aborted when the user cancels the turn. */
  readonly turn?: AbortSignal;
  /** Whether subagents of the session have called tools: then calls that read are followed, too, not only those that execute. */
  readonly subagents?: { readonly areKnown: boolean } | undefined;
  /** A call began. */
  readonly follow?: (call: FollowedCall) => Following | undefined;
  /** The model learns about skills in prompts, so that the instructions of the server have no index. */
  readonly isTaught?: boolean;
  /** Called when a client asks for the tools, so that its model has them. */
  readonly toolsListed?: () => void;
}

/** MCP servers of callers over one transport, each at an address of its own. */
export interface CallerServers<Address> {
  /** The first call starts to listen. Requests and connections wait for the caller. Throws CLOSED after `close`. */
  open(caller: McpCaller | Promise<McpCaller>): Promise<Address>;
  /** Closes every session and connection. Idempotent. */
  close(): Promise<void>;
}
