import type { App } from "../app.ts";
import type { Caller } from "../caller.ts";
import type { RunListener } from "../runs/run-event.ts";
import type { Toolbox } from "../tools/toolbox.ts";

/** The part of the app that this door serves. */
export interface McpDoor extends Pick<App, "source" | "hasher" | "log" | "clock" | "version"> {
  readonly toolbox: Pick<Toolbox, "call">;
}

/** One call, as far as it tells an editor's calls apart. */
export interface FollowedCall {
  /** The id by which the client's editor knows it, where the client says so. */
  readonly toolCallId: string | undefined;
  readonly tool: string;
  readonly input: unknown;
}

/** Who calls through the door, and what its session has to hear. */
export interface McpCaller extends Caller {
  /** Aborted when the turn is cancelled in which a call is made; the next turn has another. */
  readonly turn?: () => AbortSignal;
  /** What listens to a call's run, where its editor knows that call. */
  readonly follow?: (call: FollowedCall) => RunListener | undefined;
  /** The model is told of skills in another way: the instructions of the server have no index of them. */
  readonly isTaught?: boolean;
  /** Called when a client asks for the tools, so that its model has them. */
  readonly onReached?: () => void;
}
