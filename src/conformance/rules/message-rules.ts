import * as v2 from "@agentclientprotocol/sdk/experimental/v2/unstable";
import * as v1 from "@agentclientprotocol/sdk/unstable";
import { type JsonObject, fieldsOf } from "../../client/json.ts";
import { sessionUpdate, requestPermission, sessionPrompt } from "../../wire/methods.ts";
import {
  type Exchange,
  type Request,
  type UnexpectedMessage,
  allUpdates,
  deltaFields,
  isDelta,
  sentCommands,
  skillUpdates,
} from "../exchange.ts";
import type { Side } from "../transcript.ts";
import {
  type ConformanceRule,
  type RuleViolation,
  defineRules,
  documents,
  each,
  noCustomFields,
  quote,
} from "../rule.ts";

/** Methods of ACP, stable and drafted, in both directions; `session/set_model` is of earlier drafts. */
const methodsOfAcp: ReadonlySet<string> = new Set([
  ...[v1, v2].flatMap(({ AGENT_METHODS, CLIENT_METHODS, PROXY_METHODS }) =>
    [AGENT_METHODS, CLIENT_METHODS, PROXY_METHODS].flatMap((methods) => Object.values<string>(methods)),
  ),
  "session/set_model",
]);

const customMethods = documents.extensibility(
  "The protocol reserves any method name starting with an underscore (_) for custom extensions.",
  "Extension Methods",
);

/** Rules about the positions of extensions in messages. */
export const messageRules = defineRules([
  {
    id: "update-is-notification",
    title: "session/update is a notification",
    ...documents.schema("Notification containing a session update from the agent.", "SessionNotification"),
    check: function* ({ requests }) {
      for (const { from, line, id, method } of requests)
        if (from === "agent" && method === sessionUpdate)
          yield { line, message: `session/update has the id ${quote(id)}: it is sent as a request` };
    },
  },
  {
    id: "agent-custom-methods",
    title: "Custom methods of an agent begin with _",
    ...customMethods,
    check: customMethodsOf("agent"),
  },
  {
    id: "client-custom-methods",
    title: "Custom methods of a client begin with _",
    appliesTo: "client",
    ...customMethods,
    check: customMethodsOf("client"),
  },
  {
    id: "meta-is-object",
    title: "_meta of an update, its params and its commands is an object",
    ...documents.extensibility(
      "All types in the protocol include a _meta field with type { [key: string]: unknown }.",
      "The _meta Field",
    ),
    check: function* (exchange) {
      for (const { line, params, update } of exchange.updates) {
        yield* faultOfMeta(line, "params", params);
        yield* faultOfMeta(line, "update", update);
      }
      for (const { line, index, command } of sentCommands(exchange))
        yield* faultOfMeta(line, `availableCommands[${index}]`, command);
    },
  },
  {
    id: "update-custom-fields",
    title: "Custom fields of an update stand in _meta",
    ...documents.extensibility(noCustomFields, "The _meta Field"),
    check: each(skillUpdates, function* (update, { negotiation }) {
      const known = new Set(["sessionUpdate", "availableSkills", "_meta"]);
      if (negotiation?.optIn?.deltas === true || isDelta(update)) known.add("revision");
      if (isDelta(update)) for (const field of deltaFields) known.add(field);
      if (update.isFlat) known.add("sessionId");
      const custom = Object.keys(update.update).find((key) => !known.has(key));
      if (custom !== undefined) yield `${quote(custom)} is no field of ${update.kind}; put it into _meta`;
    }),
  },
]);

function customMethodsOf(side: Side): ConformanceRule["check"] {
  return function* ({ requests, notifications }) {
    for (const { from, line, method } of [...requests, ...notifications])
      if (from === side && !methodsOfAcp.has(method) && !/^(?:_|\$\/)/.test(method))
        yield { line, message: `${quote(method)} is no method of ACP, and does not begin with _` };
  };
}

function* faultOfMeta(line: number, where: string, { _meta: value }: JsonObject): Iterable<RuleViolation> {
  if (value !== undefined && value !== null && fieldsOf(value) === undefined)
    yield { line, message: `${where}._meta is ${quote(value)}; it must be an object` };
}

/** Kinds of updates within a turn; other updates may come at any time. */
const partsOfTurn: ReadonlySet<string> = new Set(["agent_message_chunk", "agent_thought_chunk", "tool_call", "plan"]);

/** Rules about messages, requests and their order. */
export const turnRules = defineRules([
  {
    id: "agent-messages",
    title: "An agent writes only JSON-RPC messages to stdout",
    ...documents.transports("The agent MUST NOT write anything to its stdout that is not a valid ACP message."),
    check: ({ unreadable }) => lines("agent", unreadable),
  },
  {
    id: "agent-answers",
    title: "An agent answers each request once",
    ...documents.jsonRpc("the Server MUST reply with a Response, except for in the case of Notifications."),
    check: function* (exchange) {
      yield* lines("agent", exchange.unasked);
      yield* unanswered(exchange, "client", () => true);
    },
  },
  {
    id: "turn-order",
    title: "Updates of a turn come before its response",
    ...documents.own("In ACP v1 the updates of a turn come before the response that ends it."),
    check: function* ({ negotiation, updates, requests }) {
      if (negotiation?.protocol !== 1) return;
      const prompts = requests.filter(({ from, method }) => from === "client" && method === sessionPrompt);
      for (const { line, sessionId, kind } of updates) {
        if (!partsOfTurn.has(kind)) continue;
        const ofSession = prompts.filter(
          ({ params, line: sent }) => sent < line && fieldsOf(params)?.["sessionId"] === sessionId,
        );
        const isOpen = ofSession.some(({ response }) => response === undefined || response.line > line);
        const answered = ofSession.at(-1)?.response?.line;
        if (!isOpen && answered !== undefined)
          yield { line, message: `${kind} comes after the response on line ${answered} that ended its turn` };
      }
    },
  },
  {
    id: "closed-session-silent",
    title: "A closed session gets no updates",
    ...documents.own("A session that was closed or deleted gets no updates."),
    check: each(allUpdates, function* ({ line, sessionId, kind }, { sessions }) {
      const closed = sessions.get(sessionId)?.closed;
      if (closed !== undefined && line > closed)
        yield `${kind || "an update"} is sent to the session ${quote(sessionId)}, which was closed on line ${closed}`;
    }),
  },
  {
    id: "client-messages",
    title: "A client writes only JSON-RPC messages to the agent's stdin",
    appliesTo: "client",
    ...documents.transports("The client MUST NOT write anything to the agent's stdin that is not a valid ACP message."),
    check: ({ unreadable }) => lines("client", unreadable),
  },
  {
    id: "client-answers",
    title: "A client answers each request, whatever it received before",
    appliesTo: "client",
    ...documents.extensibility("implementations MUST respond accordingly with the provided id."),
    // The user answers permission requests, perhaps never; and a client may leave.
    check: (exchange) =>
      unanswered(exchange, "agent", ({ method, line }) => method !== requestPermission && line < exchange.lastOfClient),
  },
  {
    id: "client-method-not-found",
    title: "A client refuses unknown requests with “Method not found”",
    severity: "warning",
    appliesTo: "client",
    ...documents.extensibility(
      'If the receiving end doesn\'t recognize the custom method name, it should respond with the standard "Method not found" error.',
    ),
    check: function* ({ requests }) {
      for (const { from, method, response } of requests) {
        if (from !== "agent" || !method.startsWith("_") || response?.error === undefined) continue;
        const code = fieldsOf(response.error)?.["code"];
        if (code !== -32601)
          yield { line: response.line, message: `${method} is refused with the code ${quote(code)} instead of -32601` };
      }
    },
  },
  {
    id: "client-quiet",
    title: "A client does not answer notifications",
    severity: "warning",
    appliesTo: "client",
    ...documents.extensibility("implementations SHOULD ignore unrecognized notifications."),
    check: ({ unasked }) => lines("client", unasked),
  },
  {
    id: "client-opt-in",
    title: "An opt-in has a known form",
    appliesTo: "client",
    ...documents.own(
      'A client opts in with clientCapabilities._meta["acp-skills"] or clientCapabilities.session.skills: true, or an object with the booleans notification, deltas and commands.',
    ),
    check: each(({ initialize }) => (initialize === undefined ? [] : [initialize]), faultsOfOptIn),
  },
]);

function* lines(side: Side, unexpected: readonly UnexpectedMessage[]): Iterable<RuleViolation> {
  for (const { from, line, reason } of unexpected) if (from === side) yield { line, message: `the line ${reason}` };
}

function* unanswered(
  { requests }: Exchange,
  side: Side,
  matters: (request: Request) => boolean,
): Iterable<RuleViolation> {
  for (const request of requests)
    if (request.from === side && request.response === undefined && matters(request))
      yield { line: request.line, message: `${request.method} (id ${quote(request.id)}) is never answered` };
}

/** The faults of a client's opt-in, in each field that may contain one. */
function* faultsOfOptIn({ params }: Request): Iterable<string> {
  const fields = fieldsOf(params);
  for (const key of ["clientCapabilities", "capabilities"]) {
    const capabilities = fieldsOf(fields?.[key]);
    const optIns = [
      [`${key}._meta["acp-skills"]`, fieldsOf(capabilities?.["_meta"])?.["acp-skills"]],
      [`${key}.session.skills`, fieldsOf(capabilities?.["session"])?.["skills"]],
    ] as const;
    for (const [where, optIn] of optIns) {
      if (optIn === undefined || optIn === null || typeof optIn === "boolean") continue;
      const options = fieldsOf(optIn);
      if (options === undefined) yield `${where} is ${quote(optIn)}; it must be true or an object`;
      for (const option of ["notification", "deltas", "commands"])
        if (options?.[option] !== undefined && typeof options[option] !== "boolean")
          yield `${where}.${option} is ${quote(options[option])}; it must be true or false`;
    }
  }
}
