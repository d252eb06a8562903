import { type JsonObject, fieldsOf } from "../json.ts";
import type { SkillOfForm } from "./notification.ts";

/** One command of an agent's list, as any SDK generation sends it. */
export interface AdvertisedCommand {
  readonly name: string;
  readonly description: string;
  readonly meta: JsonObject;
  /** A JSON pointer into the params of the message. */
  readonly place: string;
}

/** Reads what a form says of a command; undefined if the form does not mark it as a skill. */
export type CommandForm = (command: AdvertisedCommand) => SkillOfForm | undefined;

/** Undefined if the value has no usable name. Descriptions are not required: agents leave them out. */
export function readAdvertisedCommand(value: unknown, place: string): AdvertisedCommand | undefined {
  const { name, description, _meta } = fieldsOf(value) ?? {};
  if (!isName(name)) return undefined;
  return { name, description: typeof description === "string" ? description : "", meta: fieldsOf(_meta) ?? {}, place };
}

/** Names of commands and of skills in forms that have no rule for them: one line. */
export function isName(value: unknown): value is string {
  return typeof value === "string" && value.length <= maxName && /^[^\s\p{C}]([^\p{C}]*[^\s\p{C}])?$/u.test(value);
}

const maxName = 128;

const prefix = /^(?:\$|skills?:)/;

/** `$pdf` and `skill:pdf` are `pdf`. */
export function withoutPrefix(name: string): string {
  return name.replace(prefix, "") || name;
}

export function hasPrefix(name: string): boolean {
  return withoutPrefix(name) !== name;
}
