import path from "node:path";
import type { Negotiation } from "../../acp/negotiation.ts";
import { fieldsOf, isString, type JsonObject } from "../../client/json.ts";
import { type Exchange, commandsIn, commandUpdates, isSkillEntry, sentCommands, sentSkills } from "../exchange.ts";
import { type ConformanceRule, type RuleViolation, defineRules, documents, each, quote } from "../rule.ts";
import {
  type InvokingPrompt,
  invokingPrompts,
  listedNames,
  sentSkillEntries,
  skillEntriesIn,
} from "../skill-entries.ts";
import { slugOf } from "./command-rules.ts";

const names = documents.skillsRfd(
  "name: MUST NOT contain whitespace and MUST be unique within the command list, across commands and skills.",
);
/** Rules about skills as entries of their own among commands, and as blocks of a prompt. */
export const skillEntryRules = defineRules([
  {
    id: "skill-entries-asked-for",
    title: "Skill entries are sent only to a client that declared them",
    ...documents.skillsRfd("Agents MUST only send skill entries when the Client advertised session.commands.skill."),
    check: each(sentSkillEntries, function* ({ command }, exchange) {
      if (exchange.negotiation?.takesSkillEntries !== true)
        yield `${quote(command["name"])} is a skill entry, but the client did not declare session.commands.skill`;
    }),
  },
  {
    id: "skill-entries-advertised",
    title: "An agent that sends skill entries takes skill blocks",
    ...documents.skillsRfd("An Agent that sends skill entries MUST advertise the session.prompt.skill capability."),
    check: function* (exchange) {
      const [first] = sentSkillEntries(exchange);
      const message = "skill entries are sent, but session.prompt.skill was not advertised";
      if (first !== undefined && exchange.negotiation?.ownBlocks === "nowhere") yield { line: first.line, message };
    },
  },
  {
    id: "skill-entry-name",
    title: "The name of a skill entry has no whitespace",
    ...names,
    check: entryCheck(({ name }) => {
      if (!isString(name) || name === "") return `name is ${quote(name)}; it must be a string`;
      return /\s/.test(name) ? `the name ${quote(name)} contains whitespace` : undefined;
    }),
  },
  {
    id: "skill-entry-unique",
    title: "The name of a skill entry is no other entry's",
    ...names,
    check: each(commandUpdates, function* (update, { negotiation }) {
      if (negotiation?.protocol !== 2) return;
      const counts = new Map<unknown, number>();
      for (const { command } of commandsIn(update)) counts.set(command["name"], (counts.get(command["name"]) ?? 0) + 1);
      for (const name of new Set(skillEntriesIn(update).map((entry) => entry["name"]))) {
        const count = counts.get(name) ?? 0;
        if (count > 1) yield `${count} entries of the list have the name ${quote(name)} of a skill`;
      }
    }),
  },
  {
    id: "skill-entry-description",
    title: "A skill entry has a description",
    ...documents.skillsRfd("description: human-readable, shown to users."),
    check: entryCheck(({ description }) =>
      isString(description) ? undefined : `description is ${quote(description)}; it must be a string`,
    ),
  },
  {
    id: "skill-entry-path",
    title: "The path of a skill entry is absolute",
    ...documents.skillsRfd("path: optional absolute path of the SKILL.md."),
    check: entryCheck(({ path: file }) => {
      if (file === undefined || file === null) return undefined;
      // An absolute path of POSIX is one of Windows, too.
      const isAbsolute = isString(file) && path.win32.isAbsolute(file);
      return isAbsolute ? undefined : `path is ${quote(file)}; it must be an absolute path`;
    }),
  },
  {
    id: "skills-as-commands",
    title: "A client without skill entries gets skills as commands",
    severity: "warning",
    ...documents.skillsRfd(
      "Clients that don't advertise the capability keep getting skills as plain commands.",
      "Elevator pitch",
    ),
    check: function* (exchange) {
      // Skills that an agent does not list as commands are visible only if it lists them in another form.
      const isElsewhere =
        exchange.negotiation?.ownBlocks === "nowhere" || exchange.negotiation?.takesSkillEntries === true;
      const [first] = sentSkills(exchange);
      const { negotiation } = exchange;
      if (isElsewhere || first === undefined || negotiation === undefined || negotiation.optIn?.commands === false)
        return;
      const skills = new Set(sentSkills(exchange).map(({ skill }) => fieldsOf(skill)?.["name"]));
      if (!sentCommands(exchange).some(({ command }) => skills.has(slugOf(command))))
        yield { line: first.line, message: "skills are listed, but none of them is in a list of commands" };
    },
  },
  {
    id: "unknown-skill-refused",
    title: "A prompt with a skill that is not listed is refused",
    ...documents.skillsRfd("The Agent MUST reject the prompt …"),
    check: promptCheck(function* ({ line, blocks, response }, lists) {
      const unknown = blocks.find(({ name }) => !lists.some((listed) => isString(name) && listed.has(name)));
      if (unknown !== undefined && response !== undefined && response.error === undefined)
        yield {
          line: response.line,
          message: `the prompt on line ${line} is accepted, but prompt[${unknown.index}] names ${quote(unknown.name)}, which is not listed`,
        };
    }),
  },
  {
    id: "listed-skill-accepted",
    title: "A prompt with skills that are listed is not refused",
    ...documents.skillsRfd(
      "The Agent MUST treat each reference as the user explicitly invoking that skill for this prompt.",
    ),
    check: promptCheck(function* ({ line, blocks, response }, lists, accepted) {
      const isListed = blocks.every(({ name }) => isString(name) && lists.every((listed) => listed.has(name)));
      const code = fieldsOf(response?.error)?.["code"];
      if (response?.error === undefined || otherReasons.has(code) || !isListed) return;
      if (misplaced(blocks, accepted) === undefined)
        yield {
          line: response.line,
          message: `the prompt on line ${line} is refused (${quote(code)}), but names listed skills only: ${quote(blocks.map(({ name }) => name))}`,
        };
    }),
  },
  {
    id: "client-skill-blocks-allowed",
    title: "A client sends skill blocks only where the agent takes them",
    appliesTo: "client",
    ...documents.skillsRfd("Clients MUST NOT send a skill reference that the Agent's capability does not allow."),
    check: each(invokingPrompts, function* ({ blocks }, exchange) {
      const accepted = exchange.negotiation?.ownBlocks ?? "nowhere";
      const wrong = misplaced(blocks, accepted);
      if (wrong === undefined) return;
      const allowed =
        accepted === "nowhere"
          ? "the agent did not advertise session.prompt.skill"
          : "without session.prompt.skill.inline only the first block may be one";
      yield `prompt[${wrong.index}] is a skill block, but ${allowed}`;
    }),
  },
  {
    id: "client-skill-blocks-listed",
    title: "A client's skill blocks name listed skills",
    appliesTo: "client",
    ...documents.skillsRfd("name: the name of a skill entry in the session's current command list."),
    check: each(invokingPrompts, function* ({ line, sessionId, blocks }, exchange) {
      // A list that came after the client's last message may have crossed this prompt.
      const lists = listedNames(exchange, sessionId, [lastOfClientBefore(line, exchange), line]);
      for (const { index, name } of blocks)
        if (!lists.some((listed) => isString(name) && listed.has(name)))
          yield `prompt[${index}] names ${quote(name)}, which is no skill entry of the session's list`;
    }),
  },
  {
    id: "skill-in-one-form",
    title: "A client gets a skill in one form",
    ...documents.own(
      "A skill that is sent as a skill entry is not sent as a command, too, nor in a list of skills that the client did not opt in to.",
    ),
    check: function* (exchange) {
      const isSent = new Set(sentSkillEntries(exchange).map(({ command }) => command["name"]));
      const twice = (name: unknown): string => `${quote(name)} is sent as a skill entry, too`;
      for (const { line, command } of sentCommands(exchange))
        if (!isSkillEntry(command) && isSent.has(slugOf(command)))
          yield { line, message: `the command ${twice(command["name"])}` };
      if (exchange.negotiation?.optIn !== undefined) return;
      for (const { line, skill } of sentSkills(exchange)) {
        const name = fieldsOf(skill)?.["name"];
        if (isSent.has(name)) yield { line, message: `the skill ${twice(name)}` };
      }
    },
  },
]);

/** Errors that say nothing about the skill: no authentication, cancelled. */
const otherReasons: ReadonlySet<unknown> = new Set([-32000, -32800]);

/** A rule about each skill entry; `faultOf` returns what is wrong with an entry, if anything. */
function entryCheck(faultOf: (entry: JsonObject) => string | undefined): ConformanceRule["check"] {
  return each(sentSkillEntries, function* ({ index, command }) {
    const fault = faultOf(command);
    if (fault !== undefined) yield `availableCommands[${index}]: ${fault}`;
  });
}

/** A rule about an agent's answers to the skill blocks that it takes, with the lists that were current until the answer. */
function promptCheck(
  check: (
    prompt: InvokingPrompt,
    lists: readonly ReadonlySet<unknown>[],
    accepted: Negotiation["ownBlocks"],
  ) => Iterable<RuleViolation>,
): ConformanceRule["check"] {
  return function* (exchange) {
    const accepted = exchange.negotiation?.ownBlocks ?? "nowhere";
    if (accepted === "nowhere") return;
    for (const prompt of invokingPrompts(exchange)) {
      const { line, sessionId, response } = prompt;
      yield* check(prompt, listedNames(exchange, sessionId, [line, response?.line ?? exchange.lastLine]), accepted);
    }
  };
}

/** The first block at a position at which the agent takes none. */
function misplaced(
  blocks: InvokingPrompt["blocks"],
  accepted: Negotiation["ownBlocks"],
): InvokingPrompt["blocks"][number] | undefined {
  if (accepted === "nowhere") return blocks[0];
  return accepted === "first" ? blocks.find(({ index }) => index > 0) : undefined;
}

function lastOfClientBefore(before: number, { requests, notifications }: Exchange): number {
  const written = [...requests, ...notifications].flatMap(({ from, line }) => (from === "client" ? line : []));
  const answered = requests.flatMap(({ from, response }) => (from === "agent" && response ? response.line : []));
  return [...written, ...answered].reduce((last, line) => (line < before ? Math.max(last, line) : last), 0);
}
