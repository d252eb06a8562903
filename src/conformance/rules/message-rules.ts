import * as v2 from "@agentclientprotocol/sdk/experimental/v2/unstable";
import * as v1 from "@agentclientprotocol/sdk/unstable";
import { fieldsOf } from "../../client/json.ts";
import { sessionUpdate } from "../../wire/methods.ts";
import type { Exchange } from "../exchange.ts";
import type { Side } from "../transcript.ts";
import { documents, type RuleViolation, quote, defineRules } from "../rule.ts";
import { commandsIn, commandUpdates, deltaFields, isDelta, skillUpdates } from "./skill-lists.ts";

/** Methods of ACP, stable and drafted, in both directions; `session/set_model` is of earlier drafts. */
const methodsOfAcp: ReadonlySet<string> = new Set([
  ...[v1, v2].flatMap(({ AGENT_METHODS, CLIENT_METHODS, PROXY_METHODS }) =>
    [AGENT_METHODS, CLIENT_METHODS, PROXY_METHODS].flatMap((methods) => Object.values<string>(methods)),
  ),
  "session/set_model",
]);

const customMethods = {
  ...documents.extensibility,
  section: "Extension Methods",
  sentence: "The protocol reserves any method name starting with an underscore (_) for custom extensions.",
};

/** Where extensions of messages may stand. */
export const messageRules = defineRules([
  {
    id: "update-is-notification",
    title: "session/update is a notification",
    severity: "error",
    appliesTo: "agent",
    source: {
      ...documents.schema,
      section: "SessionNotification",
      sentence: "Notification containing a session update from the agent.",
    },
    check: function* ({ requests }) {
      for (const { from, line, id, method } of requests)
        if (from === "agent" && method === sessionUpdate)
          yield { line, message: `session/update has the id ${quote(id)}: it is sent as a request` };
    },
  },
  {
    id: "agent-custom-methods",
    title: "Custom methods of an agent begin with _",
    severity: "error",
    appliesTo: "agent",
    source: customMethods,
    check: (exchange) => customMethodsOf("agent", exchange),
  },
  {
    id: "client-custom-methods",
    title: "Custom methods of a client begin with _",
    severity: "error",
    appliesTo: "client",
    source: customMethods,
    check: (exchange) => customMethodsOf("client", exchange),
  },
  {
    id: "meta-is-object",
    title: "_meta of an update, its params and its commands is an object",
    severity: "error",
    appliesTo: "agent",
    source: {
      ...documents.extensibility,
      section: "The _meta Field",
      sentence: "All types in the protocol include a _meta field with type { [key: string]: unknown }.",
    },
    check: function* (exchange) {
      for (const { line, params, update } of exchange.updates)
        for (const [where, value] of [
          ["params._meta", params["_meta"]],
          ["update._meta", update["_meta"]],
        ] as const)
          yield* faultOfMeta(line, where, value);
      for (const update of commandUpdates(exchange))
        for (const { index, command } of commandsIn(update))
          yield* faultOfMeta(update.line, `availableCommands[${index}]._meta`, command["_meta"]);
    },
  },
  {
    id: "update-custom-fields",
    title: "Custom fields of an update stand in _meta",
    severity: "error",
    appliesTo: "agent",
    source: {
      ...documents.extensibility,
      section: "The _meta Field",
      sentence:
        "Implementations MUST NOT add any custom fields at the root of a type that's part of the specification. All possible names are reserved for future protocol versions.",
    },
    check: function* (exchange) {
      const hasDeltas = exchange.negotiation?.optIn?.deltas === true;
      const known = new Set(["sessionUpdate", "availableSkills", "_meta", ...(hasDeltas ? ["revision"] : [])]);
      for (const update of skillUpdates(exchange)) {
        const fields = Object.keys(update.update).filter((key) => !(update.isFlat && key === "sessionId"));
        const changes: readonly string[] = isDelta(update) ? [...deltaFields, "revision"] : [];
        const custom = fields.find((key) => !known.has(key) && !changes.includes(key));
        if (custom !== undefined)
          yield { line: update.line, message: `${quote(custom)} is no field of ${update.kind}; put it into _meta` };
      }
    },
  },
]);

function* customMethodsOf(side: Side, { requests, notifications }: Exchange): Iterable<RuleViolation> {
  for (const { from, line, method } of [...requests, ...notifications])
    if (from === side && !methodsOfAcp.has(method) && !/^(?:_|\$\/)/.test(method))
      yield { line, message: `${quote(method)} is no method of ACP, and does not begin with _` };
}

function* faultOfMeta(line: number, where: string, value: unknown): Iterable<RuleViolation> {
  if (value !== undefined && value !== null && fieldsOf(value) === undefined)
    yield { line, message: `${where} is ${quote(value)}; it must be an object` };
}
