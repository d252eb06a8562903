import { advertise, chooseForms, type Forms, negotiate } from "../../acp/negotiation.ts";
import { version } from "../../base/version.ts";
import { fieldsOf } from "../../client/json.ts";
import {
  initialize,
  sessionClose,
  sessionLoad,
  sessionNew,
  sessionPrompt,
  sessionResume,
  sessionUpdate,
} from "../../wire/methods.ts";

/** What the played agent knows of its client. */
export class PlayedState {
  protocol: 1 | 2 = 1;
  forms: Forms = { skills: undefined, commands: "command", problems: false };
  sessions = 0;
}

/** What it writes for a request: the response, messages, and the session that can be used from then on. */
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

/** Answers a request of a client as an agent does that has no model. Changes `state`. */
export function answerClient(method: string, params: unknown, state: PlayedState): Played {
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
      return answerPrompt(sessionId, state.protocol);
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
  const info = { name: "acp-skills-conformance", title: "Conformance of skills", version };
  return protocol === 2
    ? { protocolVersion: 2, info, capabilities: { session: {}, _meta }, authMethods: [] }
    : {
        protocolVersion: 1,
        agentInfo: info,
        agentCapabilities: { loadSession: false, sessionCapabilities: { close: {} }, _meta },
        authMethods: [],
      };
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
