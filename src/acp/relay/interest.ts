import * as methods from "../../wire/methods.ts";

/** Texts of which every message that may concern us contains at least one; `"everything"` if there is no such list. */
export type Interest = "everything" | readonly string[];

/** Some serialisers escape slashes. */
const sessions: Interest = ["session/", "session\\/", `"${methods.initialize}"`];
const sessionsAndCalls: Interest = [
  ...sessions,
  `"${methods.toolMethodPrefix.slice(0, -1)}`,
  "cancel_request",
  "ool_call/can",
  "ool_call\\/can",
];

const sessionsCallsAndReplies: Interest = [...sessionsAndCalls, `"${methods.ownRequestPrefix}`];

/** The editor's messages that may concern us after `initialize`: more if tools are served, and once we have requested something. */
export function editorInterest(state: Readonly<Record<"servesTools" | "hasRequested", boolean>>): Interest {
  const { servesTools, hasRequested } = state;
  if (!servesTools) return sessions;
  return hasRequested ? sessionsCallsAndReplies : sessionsAndCalls;
}

const responses: Interest = ['"result"', '"error"'];

/**
 * Parts of `available_commands_update`, of `user_message_chunk` (replayed prompts) and of `session_info_update` (titles). Each has an
 * underscore, so that all are found in one pass. A message that contains one by chance is parsed and forwarded.
 */
const updates: Interest = ["_comma", "user_m", "_info_"];
/** Those parts, and parts of `session/request_permission` and of the names of our tools. */
const updatesAndCalls: Interest = [...updates, "_perm", "_skil", "_blob", "_code"];
const updatesAndResponses: Interest = [...updates, ...responses];
/** With a part of `subagent_update`, if the editor is shown subagents; with updates of calls in progress: `_prog` stands in `in_progress`. */
const withTools: readonly (readonly string[])[] = [[], ["agent_u"], ["_prog"], ["agent_u", "_prog"]].map((more) => [
  ...updatesAndCalls,
  ...more,
]);
const withToolsAndResponses: typeof withTools = withTools.map((texts) => [...texts, ...responses]);

/**
 * The agent's messages that may concern us: more if tools are served, while we wait for a response, if the editor is shown subagents, and if
 * only updates of running calls contain their input. The same list for the same state.
 */
export function agentInterest(
  state: Readonly<Record<"servesTools" | "awaits" | "streamsInput" | "hasSubagents", boolean>>,
): Interest {
  const { servesTools, awaits, streamsInput, hasSubagents } = state;
  if (!servesTools) return awaits ? updatesAndResponses : updates;
  const index = (hasSubagents ? 1 : 0) + (streamsInput ? 2 : 0);
  return (awaits ? withToolsAndResponses : withTools)[index] ?? "everything";
}

/** More ids of calls are not searched for one by one. */
const maxSearched = 8;
/** Every serialiser writes such ids alike. */
const plainId = /^[\w.:-]+$/;
const anyCall: readonly string[] = ["_call"];

/** Texts of which each update of these calls contains one, whatever else it says. */
export function callInterest(ids: readonly string[]): readonly string[] {
  return ids.length > maxSearched || !ids.every((id) => plainId.test(id)) ? anyCall : ids.map((id) => `"${id}"`);
}

/** The first place, from `start`, of one of some texts; -1 if there is none. */
export type FindTexts = (block: Buffer, start: number) => number;

const underscore = 95;

/** A text, and where its first underscore is. */
interface Anchored {
  readonly bytes: Buffer;
  readonly anchor: number;
}

/**
 * Texts with an underscore are found in one pass, however many they are, because underscores are rare in messages. Each of the others
 * takes a pass.
 */
export function createTextFinder(texts: readonly string[]): FindTexts {
  const plain = texts.filter((text) => !text.includes("_")).map((text) => Buffer.from(text));
  /** By the byte behind the underscore. */
  const anchored = new Map<number, Anchored[]>();
  for (const text of texts.filter((other) => other.includes("_"))) {
    const bytes = Buffer.from(text);
    const anchor = bytes.indexOf(underscore);
    const next = bytes[anchor + 1];
    if (next === undefined) throw new Error(`${text} ends with its underscore.`);
    anchored.set(next, [...(anchored.get(next) ?? []), { bytes, anchor }]);
  }

  function firstPlain(block: Buffer, start: number): number {
    let first = -1;
    for (const bytes of plain) {
      const found = block.indexOf(bytes, start);
      if (found !== -1 && (first === -1 || found < first)) first = found;
    }
    return first;
  }

  return (block, start) => {
    const before = firstPlain(block, start);
    if (anchored.size === 0) return before;
    for (let at = block.indexOf(underscore, start); at !== -1; at = block.indexOf(underscore, at + 1)) {
      if (before !== -1 && at > before) return before;
      for (const { bytes, anchor } of anchored.get(block[at + 1] ?? 0) ?? [])
        if (at - anchor >= start && standsAt(block, at - anchor, bytes)) return at - anchor;
    }
    return before;
  };
}

function standsAt(block: Buffer, from: number, bytes: Buffer): boolean {
  for (let index = 0; index < bytes.length; index++) if (block[from + index] !== bytes[index]) return false;
  return true;
}
