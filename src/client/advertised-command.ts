import { type JsonObject, arrayOf, fieldsOf } from "./json.ts";
import type { SkillOfForm } from "./forms/notification.ts";
import { metaKey } from "../wire/methods.ts";

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
function isName(value: unknown): value is string {
  return typeof value === "string" && value.length <= maxName && /^[^\s\p{C}]([^\p{C}]*[^\s\p{C}])?$/u.test(value);
}

const maxName = 128;

const prefix = /^(?:\$|skills?:)/;

/** `$pdf` and `skill:pdf` are `pdf`. */
export function withoutPrefix(name: string): string {
  return name.replace(prefix, "") || name;
}

/**
 * JetBrains AIR: `_meta.jetbrains.air.skillPath` on the command of a skill (agentclientprotocol/codex-acp, docs/air-extensions.md, "AIR
 * metadata keys"); we add `kind: "skill"`.
 */
export const readAirCommand: CommandForm = ({ name, description, meta }) => {
  const { kind, skillPath } = airOf(meta);
  return kind === "skill" || typeof skillPath === "string"
    ? { name: withoutPrefix(name), description, command: name, file: airFile(meta), form: "air-command" }
    : undefined;
};

/** The path of a skill's file in the `_meta` of its command. */
export function airFile(meta: JsonObject): string | undefined {
  const { skillPath } = airOf(meta);
  return typeof skillPath === "string" ? skillPath : undefined;
}

function airOf(meta: JsonObject): JsonObject {
  return fieldsOf(fieldsOf(meta["jetbrains"])?.["air"]) ?? {};
}

const yolopKey = "yolop.dev/command";

/** yolop: `_meta` says that a command's source is a skill, below one key or in a key of its own (everruns/yolop, pull request 733). */
export const readYolopCommand: CommandForm = ({ name, description, meta }) =>
  meta[`${yolopKey}.source`] === "skill" || fieldsOf(meta[yolopKey])?.["source"] === "skill"
    ? { name: withoutPrefix(name), description, command: name, form: "yolop-command" }
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
      description: typeof description === "string" ? description : (command?.description ?? ""),
      command: command?.name,
      file: typeof filePath === "string" ? filePath : undefined,
      form: "qwen-skills",
    };
  });
}

/** Codex names the commands of skills `$pdf` (zed-industries/codex-acp, pull request 284), others `skill:pdf` or `skills:pdf` (246). */
export const readNamedCommand: CommandForm = ({ name, description }) =>
  withoutPrefix(name) === name
    ? undefined
    : { name: withoutPrefix(name), description, command: name, form: "named-command" };

/** Whether a command is ours: `_meta["acp-skills"]` has what the command itself cannot say. */
export function isOwnCommand({ meta }: AdvertisedCommand): boolean {
  return typeof fieldsOf(meta[metaKey])?.["source"] === "string";
}
