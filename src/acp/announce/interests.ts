import * as methods from "../../wire/methods.ts";

/** Texts of which at least one stands in every message that may concern us; `"everything"` where that cannot be said. */
export type Interest = "everything" | readonly string[];

/** A slash may be escaped in JSON, and some serialisers do. */
const sessions: Interest = ["session/", "session\\/", `"${methods.initialize}"`];
const sessionsAndCalls: Interest = [...sessions, `"${methods.toolMethodPrefix.slice(0, -1)}`, "cancel_request"];

/** What may concern us of an editor's messages once `initialize` is answered: more, where tools are served. */
export function editorInterest({ servesTools }: { readonly servesTools: boolean }): Interest {
  return servesTools ? sessionsAndCalls : sessions;
}

/**
 * Pieces of `available_commands_update`, of `user_message_chunk`, by which prompts are told again, and of `session_info_update`, which
 * tells titles. Each has an underscore, so that all are found in one pass. What has one by chance is parsed and passed on.
 */
const updates: Interest = ["_comma", "user_m", "_info_"];
/** Likewise, of `session/request_permission`, and of the names of our tools. */
const updatesAndCalls: Interest = [...updates, "_perm", "_skil", "_blob", "_code"];
const responses: Interest = ['"result"', '"error"'];
const updatesAndResponses: Interest = [...updates, ...responses];
const everyKind: Interest = [...updatesAndCalls, ...responses];

/** The same of its agent's: more, where tools are served, and where a response is awaited that we look at. */
export function agentInterest({
  servesTools,
  awaits,
}: {
  readonly servesTools: boolean;
  readonly awaits: boolean;
}): Interest {
  if (servesTools) return awaits ? everyKind : updatesAndCalls;
  return awaits ? updatesAndResponses : updates;
}
