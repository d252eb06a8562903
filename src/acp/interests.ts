import * as methods from "../wire/methods.ts";

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
 * A piece of `available_commands_update`: with a first letter that is rare in text, and of fewer letters than a search takes a
 * table for, it is found many times as fast as the whole. What has it by chance is parsed and passed on.
 */
const lists: Interest = ["_comma"];
/** Likewise, of `session/request_permission`. */
const listsAndPermissions: Interest = [...lists, "_perm"];
const responses: Interest = ['"result"', '"error"'];
const listsAndResponses: Interest = [...lists, ...responses];
const everyKind: Interest = [...listsAndPermissions, ...responses];

/** The same of its agent's: whether we answer requests for permission, and whether a response is awaited that we look at. */
export function agentInterest({
  approves,
  awaits,
}: {
  readonly approves: boolean;
  readonly awaits: boolean;
}): Interest {
  if (approves) return awaits ? everyKind : listsAndPermissions;
  return awaits ? listsAndResponses : lists;
}
