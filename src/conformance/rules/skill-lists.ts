import { readAdvertisedCommand, readAirCommand, readYolopCommand } from "../../client/advertised-command.ts";
import { type JsonObject, fieldsOf, isStrings } from "../../client/json.ts";
import { fromCommandFacts } from "../../wire/command-facts.ts";
import { isSkillsKind } from "../../client/skills-update.ts";
import { availableCommandsUpdate, metaKey } from "../../wire/methods.ts";
import type { Exchange, RecordedUpdate } from "../exchange.ts";

/** A skill as it was sent, not validated. */
export interface SentSkill {
  readonly line: number;
  readonly skill: unknown;
  /** How to name it in a sentence. */
  readonly where: string;
}

/** Updates that carry the list of skills itself, or its changes. */
export function skillUpdates({ updates }: Exchange): readonly RecordedUpdate[] {
  return updates.filter(({ kind }) => isSkillsKind(kind));
}

/** Updates that carry a list of commands. */
export function commandUpdates({ updates }: Exchange): readonly RecordedUpdate[] {
  return updates.filter(({ kind }) => kind === availableCommandsUpdate);
}

export function isDelta({ update }: RecordedUpdate): boolean {
  return update["availableSkills"] === undefined && deltaFields.some((field) => update[field] !== undefined);
}

export const deltaFields = ["added", "changed", "removed"] as const;

/** Every skill that the agent sent as an AvailableSkill. */
export function sentSkills(exchange: Exchange): readonly SentSkill[] {
  return skillUpdates(exchange).flatMap(({ line, update }) =>
    ["availableSkills", "added", "changed"].flatMap((field) =>
      arrayIn(update[field]).map((skill, index) => ({ line, skill, where: whereOf(skill, `${field}[${index}]`) })),
    ),
  );
}

function whereOf(skill: unknown, place: string): string {
  const name = fieldsOf(skill)?.["name"];
  return typeof name === "string" ? `${place} (${JSON.stringify(name.slice(0, 64))})` : place;
}

export function arrayIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The commands of a list that are objects, with their index. */
export function commandsIn({
  update,
}: RecordedUpdate): readonly { readonly index: number; readonly command: JsonObject }[] {
  return arrayIn(update["availableCommands"]).flatMap((value, index) => {
    const command = fieldsOf(value);
    return command === undefined ? [] : [{ index, command }];
  });
}

/** What a command says about its skill under our key; undefined for other commands. */
export function factsIn(command: JsonObject): JsonObject | undefined {
  return fieldsOf(fieldsOf(command["_meta"])?.[metaKey]);
}

/** Whether a command is marked as a skill: by our key, valid or not, or by that of another agent. */
export function isMarkedAsSkill(command: JsonObject): boolean {
  const read = readAdvertisedCommand(command, "");
  return (
    factsIn(command) !== undefined ||
    (read !== undefined && (readAirCommand(read) ?? readYolopCommand(read)) !== undefined)
  );
}

/** The skill that a marked command describes. */
export function skillOfCommand(command: JsonObject, facts: JsonObject): unknown {
  return fromCommandFacts({ name: command["name"], description: command["description"] }, facts);
}

export function stringsIn(value: unknown): readonly string[] {
  return isStrings(value) ? value : [];
}
