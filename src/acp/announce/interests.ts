import * as methods from "../../wire/methods.ts";

/** Texts of which every message that may concern us contains at least one; `"everything"` if there is no such list. */
export type Interest = "everything" | readonly string[];

/** Some serialisers escape slashes. */
const sessions: Interest = ["session/", "session\\/", `"${methods.initialize}"`];
const sessionsAndCalls: Interest = [...sessions, `"${methods.toolMethodPrefix.slice(0, -1)}`, "cancel_request"];

/** The editor's messages that may concern us after `initialize`: more if tools are served. */
export function editorInterest({ servesTools }: { readonly servesTools: boolean }): Interest {
  return servesTools ? sessionsAndCalls : sessions;
}

/**
 * Parts of `available_commands_update`, of `user_message_chunk` (replayed prompts) and of `session_info_update` (titles). Each has an
 * underscore, so that all are found in one pass. A message that contains one by chance is parsed and forwarded.
 */
const updates: Interest = ["_comma", "user_m", "_info_"];
/** The same for `session/request_permission` and the names of our tools. */
const updatesAndCalls: Interest = [...updates, "_perm", "_skil", "_blob", "_code"];
const responses: Interest = ['"result"', '"error"'];
const updatesAndResponses: Interest = [...updates, ...responses];
const everyKind: Interest = [...updatesAndCalls, ...responses];

/** The agent's messages that may concern us: more if tools are served, and while we wait for a response. */
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
