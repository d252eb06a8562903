import { fieldsOf, isString, isStrings } from "../../client/json.ts";
import { isSkillsKind } from "../../client/skills-update.ts";
import { availableCommandsUpdate, sessionUpdate, skillsNotification, toolMethodPrefix } from "../../wire/methods.ts";
import {
  type Exchange,
  advertisedIn,
  allUpdates,
  commandsIn,
  commandUpdates,
  factsIn,
  isSkillEntry,
  sentCommands,
  skillUpdates,
} from "../exchange.ts";
import { defineRules, documents, each, quote } from "../rule.ts";

/** The kinds of ACP v1, stable and drafted. */
const kindsOfV1: ReadonlySet<string> = new Set([
  ...["user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update"],
  ...["plan", "plan_update", "plan_removed", "available_commands_update", "current_mode_update"],
  ...["config_option_update", "session_info_update", "usage_update", "notice", "compaction_update"],
  ...["compaction_summary_chunk", "subagent_update", "session_message", "session_message_chunk"],
]);

/** The kinds of ACP v2. */
const kindsOfV2: ReadonlySet<string> = new Set([
  ...["user_message_chunk", "user_message", "agent_message_chunk", "agent_message", "agent_thought_chunk"],
  ...["agent_thought", "state_update", "tool_call_content_chunk", "tool_call_update", "terminal_update"],
  ...["terminal_output_chunk", "plan_update", "plan_removed", "available_commands_update", "config_option_update"],
  ...["session_info_update", "usage_update", "notice", "compaction_update", "compaction_summary_chunk"],
  ...["subagent_update", "session_message", "session_message_chunk"],
]);

/** Rules about the forms in which a client may get skills, by its protocol version and its declarations. */
export const formRules = defineRules([
  {
    id: "v1-kinds",
    title: "A v1 client gets no update of an unknown kind",
    ...documents.schema("Different types of updates that can be sent during session processing.", "SessionUpdate"),
    check: each(allUpdates, function* ({ method, kind }, { negotiation }) {
      if (negotiation?.protocol !== 1 || method !== sessionUpdate) return;
      if (!kindsOfV1.has(kind) && !isSkillsKind(kind)) yield `${quote(kind)} is no kind of ACP v1, which has no others`;
    }),
  },
  {
    id: "v2-kinds",
    title: "In v2, kinds of extensions begin with _",
    ...documents.extensibilityV2("Extensions MUST NOT define custom non-underscore values."),
    check: each(allUpdates, function* ({ method, kind }, { negotiation }) {
      if (negotiation?.protocol !== 2 || method !== sessionUpdate) return;
      if (!kindsOfV2.has(kind) && !kind.startsWith("_") && !isSkillsKind(kind))
        yield `${quote(kind)} is no kind of ACP v2, and does not begin with _`;
    }),
  },
  {
    id: "skills-asked-for",
    title: "The RFD's update is sent after opt-in only",
    ...documents.own("The update of RFD #370 is sent only to clients that opted in; in v2 its _ twin is for all."),
    check: each(allUpdates, function* ({ method, kind }, { negotiation }) {
      if (negotiation === undefined || negotiation.optIn !== undefined) return;
      if (method === sessionUpdate && isSkillsKind(kind) && !(negotiation.protocol === 2 && kind.startsWith("_")))
        yield `${quote(kind)} is sent, but the client did not opt in`;
    }),
  },
  {
    id: "notifications-asked-for",
    title: "Notifications of the extension are sent after opt-in only",
    ...documents.own("Notifications with the prefix _acp-skills/ are sent only to clients that opted in."),
    check: function* ({ negotiation, notifications }) {
      for (const { from, line, method } of notifications)
        if (from === "agent" && method.startsWith(toolMethodPrefix) && negotiation?.optIn === undefined)
          yield { line, message: `${method} is sent, but the client did not opt in` };
    },
  },
  {
    id: "commands-declined",
    title: "A client that did not ask for skills as commands, too, gets none",
    ...documents.own("A client that opted in without commands: true gets no skills as commands."),
    check: each(commandUpdates, function* (update, { negotiation }) {
      const skill = commandsIn(update).find(({ command }) => factsIn(command) !== undefined && !isSkillEntry(command));
      if (skill !== undefined && negotiation?.optIn?.commands === false)
        yield `the command ${quote(skill.command["name"])} is a skill, but the client did not ask for commands, too`;
    }),
  },
  {
    id: "advertisement-form",
    title: "An advertisement names its version, tools and updates",
    ...documents.own(
      'An agent that advertises agentCapabilities._meta["acp-skills"] names there its version, tools and update forms: {version, tools, update}.',
    ),
    check: function* (exchange) {
      const given = advertisedIn(exchange);
      const line = exchange.initialize?.response?.line;
      if (given === undefined || line === undefined) return;
      const fields = fieldsOf(given) ?? {};
      const isRight = { version: isString, tools: isStrings, update: isStrings };
      for (const [field, isExpected] of Object.entries(isRight))
        if (!isExpected(fields[field])) {
          const expected = field === "version" ? "a string" : "an array of strings";
          yield { line, message: `_meta["acp-skills"].${field} is ${quote(fields[field])}; it must be ${expected}` };
        }
    },
  },
  {
    id: "advertised-is-sent",
    title: "What is advertised is what is sent",
    ...documents.own("The forms that an advertisement names are those in which skills are sent."),
    check: function* (exchange) {
      const advertised = fieldsOf(advertisedIn(exchange))?.["update"];
      if (!isStrings(advertised)) return;
      const first = firstOfEachForm(exchange);
      for (const [form, line] of first)
        if (!advertised.includes(form)) yield { line, message: `skills are sent as ${form}, which was not advertised` };
      // Skills of which none came as a command need not come in every advertised form.
      if (!first.has(availableCommandsUpdate)) return;
      const line = exchange.lastLine;
      for (const form of advertised)
        if (!first.has(form))
          yield { line, message: `${form} was advertised, but skills were sent in other forms only` };
    },
  },
]);

/** The line of the first skills in each form. */
function firstOfEachForm(exchange: Exchange): ReadonlyMap<string, number> {
  const skills = skillUpdates(exchange).map(({ method, kind, line }) => ({
    form: method === skillsNotification ? method : kind,
    line,
  }));
  const commands = sentCommands(exchange).flatMap(({ line, command }) =>
    factsIn(command) === undefined && !isSkillEntry(command) ? [] : [{ form: availableCommandsUpdate, line }],
  );
  return new Map([...skills, ...commands].reverse().map(({ form, line }) => [form, line]));
}
