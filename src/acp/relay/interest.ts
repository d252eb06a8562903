import * as methods from "../../wire/methods.ts";

/** A list of texts: a message that may concern acp-skills contains at least one. `"everything"` if there is no such list. */
export type Interest = "everything" | readonly string[];

/** The texts of messages about sessions. Some serialisers escape slashes. */
const sessions: Interest = ["session/", "session\\/", `"${methods.initialize}"`];
const sessionsAndCalls: Interest = [
  ...sessions,
  `"${methods.toolMethodPrefix.slice(0, -1)}`,
  "cancel_request",
  "ool_call/can",
  "ool_call\\/can",
];

const sessionsCallsAndReplies: Interest = [...sessionsAndCalls, `"${methods.ownRequestPrefix}`];

/** Returns the texts of the editor's messages that may concern acp-skills after `initialize`: more with tools, or after an own request. */
export function editorInterest(state: Readonly<Record<"servesTools" | "hasRequested", boolean>>): Interest {
  const { servesTools, hasRequested } = state;
  if (!servesTools) return sessions;
  return hasRequested ? sessionsCallsAndReplies : sessionsAndCalls;
}

const responses: Interest = ['"result"', '"error"'];

/**
 * Segments of `available_commands_update`, of `user_message_chunk` (replayed prompts) and of `session_info_update` (titles). Each has an
 * underscore, so that all are found in one pass. A message that contains one by chance is parsed and forwarded.
 */
const updates: Interest = ["_comma", "user_m", "_info_"];
/** The segments in `updates`, and segments of `session/request_permission` and of the names of the tools. */
const updatesAndCalls: Interest = [...updates, "_perm", "_skil", "_blob", "_code"];
const updatesAndResponses: Interest = [...updates, ...responses];
/** The lists if tools are served: plain, with a segment of `subagent_update`, of `in_progress` (running calls), or of both. */
const withTools: readonly (readonly string[])[] = [[], ["agent_u"], ["_prog"], ["agent_u", "_prog"]].map((more) => [
  ...updatesAndCalls,
  ...more,
]);
const withToolsAndResponses: typeof withTools = withTools.map((texts) => [...texts, ...responses]);

/**
 * Returns the texts of the agent's messages that may concern acp-skills. There are more if tools are served or subagents shown, while a
 * response is awaited, or if only updates of running calls contain their input. Equal states get the same array.
 */
export function agentInterest(
  state: Readonly<Record<"servesTools" | "awaits" | "streamsInput" | "hasSubagents", boolean>>,
): Interest {
  const { servesTools, awaits, streamsInput, hasSubagents } = state;
  if (!servesTools) return awaits ? updatesAndResponses : updates;
  const index = (hasSubagents ? 1 : 0) + (streamsInput ? 2 : 0);
  return (awaits ? withToolsAndResponses : withTools)[index] ?? "everything";
}

/** The maximum number of calls whose ids are searched for one by one. */
const maxSearched = 8;
/** The pattern of ids that every serialiser writes alike. */
const plainId = /^[\w.:-]+$/;
const anyCall: readonly string[] = ["_call"];

/** Returns the texts for these calls: every update of one of them contains at least one of the texts. */
export function callInterest(ids: readonly string[]): readonly string[] {
  return ids.length > maxSearched || !ids.every((id) => plainId.test(id)) ? anyCall : ids.map((id) => `"${id}"`);
}

/** Finds the first index, from `start` on, of any of some texts; -1 if there is none. */
export type FindTexts = (block: Buffer, start: number) => number;

const underscore = 95;

/** A text, with the index of its first underscore. */
interface Anchored {
  readonly bytes: Buffer;
  readonly anchor: number;
}

/**
 * Creates a finder of texts. One pass finds all texts with an underscore, because underscores are rare in messages. Each other text takes
 * a pass.
 */
export function createTextFinder(texts: readonly string[]): FindTexts {
  const plain = texts.filter((text) => !text.includes("_")).map((text) => Buffer.from(text));
  /** The texts with an underscore, by the byte after it. */
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
