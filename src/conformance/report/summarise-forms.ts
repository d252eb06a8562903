import { fieldsOf } from "../../client/json.ts";
import { skillsNotification } from "../../wire/methods.ts";
import type { Exchange } from "../exchange.ts";
import {
  arrayIn,
  commandsIn,
  commandUpdates,
  factsIn,
  isDelta,
  isMarkedAsSkill,
  skillUpdates,
} from "../rules/skill-lists.ts";

/** A form in which an agent told its skills or commands. */
export interface SentForm {
  readonly form: string;
  /** How many updates had this form. */
  readonly updates: number;
  /** How many skills, or commands, the longest list had. */
  readonly most: number;
  /** Where it came first. */
  readonly line: number;
}

/** The forms of an exchange, in the order of their first use. */
export function summariseForms(exchange: Exchange): readonly SentForm[] {
  const forms = new Map<string, SentForm>();
  const see = (form: string, line: number, count: number): void => {
    const { updates = 0, most = 0, line: first = line } = forms.get(form) ?? {};
    forms.set(form, { form, updates: updates + 1, most: Math.max(most, count), line: Math.min(first, line) });
  };
  for (const update of skillUpdates(exchange)) {
    const { line, method, kind, isFlat, update: fields } = update;
    const name = method === skillsNotification ? method : kind;
    if (isDelta(update)) see(`changes in ${name}`, line, countOf(fields["added"]) + countOf(fields["changed"]));
    else see(isFlat ? `${name}, not nested` : name, line, countOf(fields["availableSkills"]));
  }
  for (const update of commandUpdates(exchange)) {
    const commands = commandsIn(update).map(({ command }) => command);
    const mark = (form: string, count: number): void => {
      if (count > 0) see(form, update.line, count);
    };
    const airs = commands.filter(({ _meta }) => fieldsOf(fieldsOf(_meta)?.["jetbrains"])?.["air"] !== undefined);
    const others = commands.filter(({ _meta }) => fieldsOf(_meta)?.["yolop.dev/command.source"] === "skill");
    const dollars = commands.filter(({ name }) => typeof name === "string" && /^(?:\$|skill:)/.test(name));
    mark('commands with _meta["acp-skills"]', commands.filter((command) => factsIn(command) !== undefined).length);
    mark("commands with _meta.jetbrains.air", airs.length);
    mark('commands with _meta["yolop.dev/command.source"]', others.length);
    mark("commands named $… or skill:…", dollars.length);
    mark("_meta.availableSkills of a list of commands", countOf(fieldsOf(update.update["_meta"])?.["availableSkills"]));
    mark("plain commands", commands.filter((command) => !isMarkedAsSkill(command)).length);
  }
  return [...forms.values()].sort((a, b) => a.line - b.line);
}

function countOf(value: unknown): number {
  return arrayIn(value).length;
}
