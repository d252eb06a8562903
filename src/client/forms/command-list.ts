import { fromCommandFacts } from "../../wire/command-facts.ts";
import { metaKey } from "../../wire/methods.ts";
import { fieldsOf } from "../json.ts";
import { Entries, type EntryContext } from "./entries.ts";
import {
  type AdvertisedCommand,
  type CommandForm,
  airFile,
  isOwnCommand,
  readAdvertisedCommand,
  readAirCommand,
  readNamedCommand,
  readQwenSkills,
  readSkillEntry,
  readYolopCommand,
} from "../advertised-command.ts";
import type { ParsedNotification, PlainCommand } from "./notification.ts";
import type { UpdateParams } from "../skills-update.ts";

/** The forms in the order in which they are tried. */
const forms: readonly CommandForm[] = [readSkillEntry, readAirCommand, readYolopCommand, readNamedCommand];

const maxDescription = 4096;

/** Reads `available_commands_update`: the skills among the commands, and the commands that nothing marks as skills. */
export function readCommandList(
  { sessionId, update, meta, isFlat }: UpdateParams,
  source: EntryContext,
): ParsedNotification {
  const values = update["availableCommands"];
  const pointer = `${isFlat ? "" : "/update"}/availableCommands`;
  const entries = new Entries(source, sessionId);
  if (!Array.isArray(values)) {
    entries.report("INVALID_UPDATE", pointer, "is not a list");
    return { kind: "nothing", sessionId, faults: entries.faults };
  }
  const commands = new Map<string, AdvertisedCommand>();
  for (const [index, value] of (values as unknown[]).entries()) {
    if (entries.isFull(index, pointer)) break;
    const command = readAdvertisedCommand(value, `${pointer}/${index}`);
    if (command === undefined || command.description.length > maxDescription)
      entries.report("INVALID_COMMAND", `${pointer}/${index}`, "has no valid name or description");
    else if (!commands.has(command.name)) commands.set(command.name, command);
  }
  const qwen = readQwenSkills({ ...meta, ...fieldsOf(update["_meta"]) }, commands).slice(0, source.limits.skills);
  const ofQwen = new Set(qwen.map(({ command }) => command));
  const plain: PlainCommand[] = [];
  for (const [name, command] of commands) {
    const { description, meta, pointer } = command;
    if (isOwnCommand(command)) {
      const skill = fromCommandFacts({ name, description }, fieldsOf(meta[metaKey]) ?? {});
      entries.addAvailable(skill, pointer, { form: "acp-skills-command", command: name, file: airFile(meta) });
    } else if (!ofQwen.has(name)) {
      const skill = forms.map((form) => form(command)).find(Boolean);
      if (skill === undefined) plain.push({ name, description });
      else entries.add(skill, pointer);
    }
  }
  for (const skill of qwen.filter((skill) => !entries.has(skill.name)))
    entries.add(skill, `${isFlat ? "" : "/update"}/_meta/availableSkills`);
  return { kind: "commands", sessionId, skills: entries.skills, commands: plain, faults: entries.faults };
}
