import { type JsonObject, arrayOf, fieldsAt, fieldsOf, isString } from "./json.ts";
import type { SkillForm, SkillOfForm } from "./forms/notification.ts";
import { metaKey } from "../wire/methods.ts";

/** One command of an agent's list, as any SDK generation sends it. */
export interface AdvertisedCommand {
  readonly name: string;
  readonly description: string;
  /** All fields of the command, as sent. */
  readonly fields: JsonObject;
  readonly meta: JsonObject;
  /** A JSON pointer into the params of the message. */
  readonly pointer: string;
}

/** Reads the facts of a form from a command; undefined if the form does not mark it as a skill. */
export type CommandForm = (command: AdvertisedCommand) => SkillOfForm | undefined;

/** Reads a command; undefined if it has no usable name. Descriptions are not required, because agents leave them out. */
export function readAdvertisedCommand(value: unknown, pointer: string): AdvertisedCommand | undefined {
  const fields = fieldsOf(value) ?? {};
  const { name, description, _meta } = fields;
  if (!isName(name)) return undefined;
  const text = isString(description) ? description : "";
  return { name, description: text, fields, meta: fieldsOf(_meta) ?? {}, pointer };
}

/** Whether a value can be the name of a command or skill in a form without a rule for names: one line of at most 128 characters. */
function isName(value: unknown): value is string {
  return isString(value) && value.length <= maxName && /^[^\s\p{C}]([^\p{C}]*[^\s\p{C}])?$/u.test(value);
}

const maxName = 128;

const prefix = /^(?:\$|skills?:)/;

/** The name without the prefix of skills: `$pdf` and `skill:pdf` become `pdf`. */
export function withoutPrefix(name: string): string {
  return name.replace(prefix, "") || name;
}

/** ACP v2: a `skill` entry (RFD "Agent Skills", and the types of the schema crate, `v2::Skill`). */
export const readSkillEntry: CommandForm = (command) =>
  command.fields["type"] === "skill" ? toSkill(command, "skill-entry", command.fields["path"]) : undefined;

/**
 * JetBrains AIR: `_meta.jetbrains.air.skillPath` on the command of a skill (agentclientprotocol/codex-acp, docs/air-extensions.md, "AIR
 * metadata keys"); acp-skills adds `kind: "skill"`.
 */
export const readAirCommand: CommandForm = (command) => {
  const { kind, skillPath } = airOf(command.meta);
  return kind === "skill" || isString(skillPath) ? toSkill(command, "air-command", skillPath) : undefined;
};

function toSkill({ name, description }: AdvertisedCommand, form: SkillForm, path?: unknown): SkillOfForm {
  const file = isString(path) ? path : undefined;
  return { name: withoutPrefix(name), description, command: name, file, form };
}

/** The path of a skill's file in the `_meta` of its command. */
export function airFile(meta: JsonObject): string | undefined {
  const { skillPath } = airOf(meta);
  return isString(skillPath) ? skillPath : undefined;
}

function airOf(meta: JsonObject): JsonObject {
  return fieldsAt(meta, "jetbrains", "air") ?? {};
}

const yolopKey = "yolop.dev/command";

/** yolop: `_meta` says that a command's source is a skill, below one key or in a key of its own (everruns/yolop, pull request 733). */
export const readYolopCommand: CommandForm = (command) =>
  command.meta[`${yolopKey}.source`] === "skill" || fieldsAt(command.meta, yolopKey)?.["source"] === "skill"
    ? toSkill(command, "yolop-command")
    : undefined;

/**
 * qwen-code: names in `_meta.availableSkills` of its `available_commands_update`, and `_meta.availableSkillDetails` with `{name,
 * description, body, filePath, level, modelInvocable}` (QwenLM/qwen-code, packages/cli, acp-integration `Session.ts`).
 */
export function readQwenSkills(
  meta: JsonObject | undefined,
  commands: ReadonlyMap<string, AdvertisedCommand>,
): readonly SkillOfForm[] {
  const names = arrayOf(meta?.["availableSkills"]);
  const details = arrayOf(meta?.["availableSkillDetails"]).map((value) => fieldsOf(value) ?? {});
  const detailsByName = new Map(details.map((detail) => [detail["name"], detail]));
  return [...new Set([...names, ...detailsByName.keys()])].filter(isName).map((name) => {
    const { description, filePath } = detailsByName.get(name) ?? {};
    const command = commands.get(name);
    return {
      name,
      description: isString(description) ? description : (command?.description ?? ""),
      command: command?.name,
      file: isString(filePath) ? filePath : undefined,
      form: "qwen-skills",
    };
  });
}

/** Codex names the commands of skills `$pdf` (zed-industries/codex-acp, pull request 284), others `skill:pdf` or `skills:pdf` (246). */
export const readNamedCommand: CommandForm = (command) =>
  withoutPrefix(command.name) === command.name ? undefined : toSkill(command, "named-command");

/** Whether a command comes from acp-skills: `_meta["acp-skills"]` has the facts that the command itself cannot have. */
export function isOwnCommand({ meta }: AdvertisedCommand): boolean {
  return typeof fieldsAt(meta, metaKey)?.["source"] === "string";
}
