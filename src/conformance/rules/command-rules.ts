import { type JsonObject, arrayOf, fieldsOf } from "../../client/json.ts";
import { withoutPrefix } from "../../client/advertised-command.ts";
import { isAvailableSkill } from "../../client/skill-fault.ts";
import { fromCommandFacts } from "../../wire/command-facts.ts";
import { metaKey } from "../../wire/methods.ts";
import { defineRules, documents, each, quote } from "../rule.ts";
import { commandsIn, commandUpdates, factsIn, isMarkedAsSkill, isSkillEntry, sentCommands } from "../exchange.ts";

/** Rules about skills among an agent's commands. */
export const commandRules = defineRules([
  {
    id: "command-fields",
    title: "A command has a name and a description",
    ...documents.slashCommands(
      "name (string, required): The command name. description (string, required): Human-readable description of what the command does.",
    ),
    check: each(commandUpdates, function* ({ update }, { negotiation }) {
      const list = update["availableCommands"];
      if (!Array.isArray(list)) yield `availableCommands is ${quote(list)}; it must be an array`;
      for (const [index, command] of arrayOf(list).entries()) {
        const { name, description, type } = fieldsOf(command) ?? {};
        if (negotiation?.protocol === 2 && type === "skill") continue;
        const where = `availableCommands[${index}]`;
        if (typeof name !== "string" || name === "") yield `${where}.name is ${quote(name)}; it must be a string`;
        if (typeof description !== "string") yield `${where}.description is ${quote(description)}; it must be a string`;
      }
    }),
  },
  {
    id: "v2-command-type",
    title: "A v2 command has a type",
    ...documents.schemaV2("The type field acts as the discriminator in the serialized JSON form.", "AvailableCommand"),
    check: each(sentCommands, function* ({ command }, { negotiation }) {
      if (negotiation?.protocol === 2 && typeof command["type"] !== "string")
        yield `the command ${quote(command["name"])} has no type; "command" is the usual one`;
    }),
  },
  {
    id: "v2-command-names",
    title: "Names of v2 commands are unique and without whitespace",
    ...documents.schemaV2("MUST NOT contain whitespace and MUST be unique within the command list."),
    check: each(commandUpdates, function* (update, { negotiation }) {
      if (negotiation?.protocol !== 2) return;
      const seen = new Set<unknown>();
      for (const { command } of commandsIn(update)) {
        const { name } = command;
        if (isSkillEntry(command)) continue;
        if (typeof name === "string" && /\s/.test(name)) yield `the name ${quote(name)} contains whitespace`;
        if (seen.has(name)) yield `the name ${quote(name)} is in the list more than once`;
        seen.add(name);
      }
    }),
  },
  {
    id: "skill-listed-once",
    title: "A skill is one command of a list",
    ...documents.own("A skill is one command of a list, whatever it is called there: name, $name or skill:name."),
    check: each(commandUpdates, function* (update) {
      const commands = commandsIn(update).flatMap(({ command }) => (isSkillEntry(command) ? [] : [command]));
      const skills = new Set(commands.filter(isMarkedAsSkill).map(slugOf));
      const seen = new Set<string>();
      for (const slug of commands.map(slugOf)) {
        if (skills.has(slug) && seen.has(slug)) yield `the skill ${quote(slug)} is listed as two commands`;
        seen.add(slug);
      }
    }),
  },
  {
    id: "command-facts",
    title: "A command that is marked as a skill describes a valid one",
    ...documents.own('A command with _meta["acp-skills"] describes, together with it, a valid AvailableSkill.'),
    check: each(sentCommands, function* ({ command }) {
      const { name, description } = command;
      const facts = factsIn(command);
      if (facts !== undefined && !isAvailableSkill(fromCommandFacts({ name, description }, facts)))
        yield `the command ${quote(name)} and its _meta["acp-skills"] describe no valid skill`;
    }),
  },
  {
    id: "command-count",
    title: "A marked list says how many of its commands it added as skills",
    severity: "warning",
    ...documents.own('_meta["acp-skills"].skills of a list of commands is the number of those that are skills.'),
    check: each(commandUpdates, function* (update) {
      const marked = commandsIn(update).filter(
        ({ command }) => factsIn(command) !== undefined || isSkillEntry(command),
      ).length;
      const said = fieldsOf(fieldsOf(update.params["_meta"])?.[metaKey])?.["skills"];
      if (said !== undefined && said !== marked)
        yield `_meta["acp-skills"].skills is ${quote(said)}, but ${marked} commands are skills`;
    }),
  },
  {
    id: "commands-kept",
    title: "A list with skills keeps the agent's own commands",
    severity: "warning",
    ...documents.own("A list of commands replaces the one before: one with skills has the agent's own commands, too."),
    check: function* (exchange) {
      const own = new Map<string, number>();
      for (const update of commandUpdates(exchange)) {
        const { line, sessionId } = update;
        const commands = commandsIn(update).map(({ command }) => command);
        const unmarked = commands.filter((command) => !isMarkedAsSkill(command)).length;
        const before = own.get(sessionId) ?? 0;
        const message = `the list consists of skills only; the ${before} commands of the agent before it are gone`;
        if (commands.length > 0 && unmarked === 0 && before > 0) yield { line, message };
        own.set(sessionId, unmarked);
      }
    },
  },
]);

/** The slug of a command's skill: the one that the command states, else its name without the prefix of skills. */
export function slugOf(command: JsonObject): string {
  const slug = factsIn(command)?.["slug"];
  return typeof slug === "string" ? slug : withoutPrefix(String(command["name"]));
}
