import { advertise, chooseForms, type Forms, negotiate } from "../../acp/negotiation.ts";
import { version } from "../../base/version.ts";
import { fieldsOf } from "../../client/json.ts";
import { type Exchange, judgeName } from "../exchange.ts";
import { quote } from "../rule.ts";
import { invokingPrompts, listedNames } from "../skill-entries.ts";
import {
  initialize,
  sessionClose,
  sessionLoad,
  sessionNew,
  sessionPrompt,
  sessionResume,
  sessionUpdate,
} from "../../wire/methods.ts";

/** The played agent's knowledge of its client. */
export class PlayedState {
  protocol: 1 | 2 = 1;
  forms: Forms = { skills: undefined, commands: "command", problems: false };
  sessions = 0;
}

/** The played agent's output for a request: the response, messages, and the session that is usable from then on. */
interface Played {
  readonly reply: object;
  readonly messages?: readonly object[];
  readonly opened?: string;
}

const plainResults: Readonly<Record<string, object>> = {
  [sessionClose]: {},
  authenticate: {},
  "session/delete": {},
  "session/set_mode": {},
  "session/set_model": {},
  "session/list": { sessions: [] },
  "session/set_config_option": { configOptions: [] },
};

/** Answers a client's request, the last message of the exchange, like an agent without a model. Changes `state`. */
export function answerClient(method: string, params: unknown, state: PlayedState, read: () => Exchange): Played {
  const named = fieldsOf(params)?.["sessionId"];
  const sessionId = typeof named === "string" ? named : "session-1";
  switch (method) {
    case initialize:
      return { reply: { result: initializeResult(params, state) } };
    case sessionNew: {
      const made = `session-${++state.sessions}`;
      return { reply: { result: { sessionId: made } }, opened: made };
    }
    case sessionLoad:
    case sessionResume:
      return { reply: { result: {} }, opened: sessionId };
    case sessionPrompt:
      return (
        (state.forms.commands === "skill" ? refusePrompt(read()) : undefined) ?? answerPrompt(sessionId, state.protocol)
      );
  }
  const result = Object.hasOwn(plainResults, method) ? plainResults[method] : undefined;
  return { reply: result === undefined ? { error: { code: -32601, message: "Method not found" } } : { result } };
}

function initializeResult(params: unknown, state: PlayedState): object {
  const protocol = Number(fieldsOf(params)?.["protocolVersion"]) >= 2 ? 2 : 1;
  const negotiation = negotiate(params, { protocolVersion: protocol });
  state.protocol = protocol;
  state.forms = chooseForms(negotiation, "auto");
  const [amendment] = advertise({ result: {} }, negotiation, state.forms, { version, tools: [] });
  const { _meta } = fieldsOf(amendment !== undefined && "value" in amendment ? amendment.value : undefined) ?? {};
  const info = { name: judgeName, title: "Conformance of skills", version };
  // Omits `inline`, to find out whether a client respects what the agent takes.
  const session = state.forms.commands === "skill" ? { prompt: { skill: {} } } : {};
  return protocol === 2
    ? { protocolVersion: 2, info, capabilities: { session, _meta }, authMethods: [] }
    : {
        protocolVersion: 1,
        agentInfo: info,
        agentCapabilities: { loadSession: false, sessionCapabilities: { close: {} }, _meta },
        authMethods: [],
      };
}

/** The error for a prompt that names a skill which is not listed. */
function refusePrompt(exchange: Exchange): Played | undefined {
  const { line, sessionId, blocks = [] } = invokingPrompts(exchange).at(-1) ?? {};
  if (line !== exchange.lastLine) return undefined;
  const [listed] = listedNames(exchange, sessionId, [line, line]);
  const unknown = blocks.find(({ name }) => typeof name !== "string" || listed?.has(name) !== true);
  if (unknown === undefined) return undefined;
  const message = `prompt[${unknown.index}] names no skill of the session's list: ${quote(unknown.name)}`;
  return { reply: { error: { code: -32602, message } } };
}

const said = { type: "text", text: "This is acp-skills conformance; it has no model." };

function answerPrompt(sessionId: string, protocol: 1 | 2): Played {
  const chunk = { sessionUpdate: "agent_message_chunk", content: said };
  if (protocol === 1)
    return { reply: { result: { stopReason: "end_turn" } }, messages: [toSessionUpdate(sessionId, chunk)] };
  const messages = [
    { ...chunk, messageId: "agent-message" },
    { sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" },
  ];
  return {
    reply: { result: { messageId: "user-message" } },
    messages: messages.map((update) => toSessionUpdate(sessionId, update)),
  };
}

/** A notification about a session. */
export function toSessionUpdate(sessionId: string, update: object): object {
  return { jsonrpc: "2.0", method: sessionUpdate, params: { sessionId, update } };
}
