import type { OfferedSkill } from "../skills/skill.ts";
import { metaKey } from "../wire/methods.ts";
import { type JsonRecord, isRecord } from "./raw-message.ts";
import { projectSkill } from "./projection.ts";

/** How commands are spelt for one editor. */
export interface CommandDialect {
  readonly protocol: 1 | 2;
  readonly jetbrains: boolean;
}

/** What an agent's list of commands becomes when skills join it. */
export interface MergedCommands {
  /** The new `_meta` of commands the agent already has, by their place in its list. */
  readonly annotated: ReadonlyMap<number, JsonRecord>;
  /** One command for each skill that the agent does not show itself; they follow the agent's own. */
  readonly added: readonly JsonRecord[];
}

/** The place of the command under which the agent itself shows a skill; -1 where it does not. */
export function placeInAgentList(commands: readonly unknown[], { skill }: OfferedSkill): number {
  const names = [skill.slug, `$${skill.slug}`, `skill:${skill.slug}`, skill.name];
  return commands.findIndex((command) => isRecord(command) && names.includes(String(command["name"])));
}

/** Merges skills into the agent's own commands, which keep their place and win a name. */
export function mergeCommands(
  commands: readonly unknown[],
  skills: readonly OfferedSkill[],
  dialect: CommandDialect,
): MergedCommands {
  const annotated = new Map<number, JsonRecord>();
  const added: JsonRecord[] = [];
  const places = new Map(commands.map((command, index) => [isRecord(command) ? command["name"] : undefined, index]));
  for (const offered of skills) {
    const { slug, name } = offered.skill;
    const isShown = [slug, `$${slug}`, `skill:${slug}`, name].some((shown) => places.has(shown));
    const place = isShown ? placeInAgentList(commands, offered) : -1;
    if (place === -1) added.push(toCommand(offered, dialect));
    else annotated.set(place, { ...metaOf(commands[place]), ...toMeta(offered, dialect, metaOf(commands[place])) });
  }
  return { annotated, added };
}

/** The whole list, for an update of our own. */
export function toCommandList(commands: readonly unknown[], { annotated, added }: MergedCommands): readonly unknown[] {
  const own = commands.map((command, index) => {
    const meta = annotated.get(index);
    return meta === undefined || !isRecord(command) ? command : { ...command, _meta: meta };
  });
  return [...own, ...added];
}

function toCommand(offered: OfferedSkill, dialect: CommandDialect): JsonRecord {
  const { skill } = offered;
  const hint = toHint(offered);
  const isV2 = dialect.protocol === 2;
  return {
    ...(isV2 && { type: "command" }),
    name: skill.slug,
    description: skill.description,
    input: isV2 ? { type: "text", hint } : { hint },
    _meta: toMeta(offered, dialect, {}),
  };
}

/** Editors send a command without input the moment it is picked; a skill nearly always wants words. */
function toHint({ skill }: OfferedSkill): string {
  const declared = skill.metadata["argument-hint"]?.trim();
  if (declared !== undefined && declared !== "") return declared;
  const inputs = Object.entries(skill.manifest?.inputs ?? {});
  const names = inputs.map(([name, { required = false }]) => (required ? `<${name}>` : `[${name}]`));
  return names.length > 0 ? names.join(" ") : "what to do";
}

function toMeta(offered: OfferedSkill, { jetbrains }: CommandDialect, existing: JsonRecord): JsonRecord {
  const ours = { [metaKey]: projectSkill(offered) };
  if (!jetbrains) return ours;
  const air = { kind: "skill", skillPath: offered.skill.file };
  const theirs = isRecord(existing["jetbrains"]) ? existing["jetbrains"] : {};
  return { ...ours, jetbrains: { ...theirs, air } };
}

function metaOf(command: unknown): JsonRecord {
  return isRecord(command) && isRecord(command["_meta"]) ? command["_meta"] : {};
}
