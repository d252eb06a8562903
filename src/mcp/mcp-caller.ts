import type { App } from "../runtime/app.ts";
import type { Caller } from "../runtime/caller.ts";
import type { RunListener } from "../wire/run-event.ts";

/** The part of the app that MCP servers need. */
export interface McpApp extends Pick<App, "source" | "hasher" | "log" | "clock" | "policyFor" | "version"> {
  readonly toolbox: Pick<App["toolbox"], "call" | "mayRead">;
}

/** What identifies a call among those that the editor shows. */
export interface FollowedCall {
  /** Its id in the client's editor, if the client sends it. */
  readonly toolCallId: string | undefined;
  readonly tool: string;
  readonly input: unknown;
}

/** A call that the editor shows, while it runs. */
export interface ShownCall {
  readonly onEvent: RunListener;
  /** Aborted when the user cancels this call. */
  readonly cancelled: AbortSignal;
  readonly ended: () => void;
}

/** A caller, and what its session is notified of. */
export interface McpCaller extends Caller {
  /** Questions are shown by the client, if it declares `elicitation`. Not for a wrapped agent: its editor is asked. */
  readonly asksClient?: boolean;
  /** The signal of the current turn, aborted when the user cancels the turn. */
  readonly turn?: AbortSignal;
  /** Called when a call of a tool that executes begins. */
  readonly follow?: (call: FollowedCall) => ShownCall | undefined;
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
