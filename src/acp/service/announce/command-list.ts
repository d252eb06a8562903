import type { OfferedSkill, Skill } from "../../../skills/skill.ts";
import { withoutControls } from "../../../base/text/unsafe-characters.ts";
import { type KnownFacts, isSameFacts, projectSkill, toCommandFacts } from "../../../wire/command-facts.ts";
import { metaKey } from "../../../wire/methods.ts";
import { isRecord, type JsonRecord } from "../../messages/raw-message.ts";
import type { Forms, Negotiation } from "../../negotiation.ts";
import type { SkillOfAgent } from "./native-skills.ts";

/** The form of commands for one editor. */
export interface CommandDialect extends Pick<Negotiation, "protocol" | "jetbrains" | "declaresSkills"> {
  readonly form: NonNullable<Forms["commands"]>;
}

/** The changes that merge skills into an agent's list of commands. */
export interface MergedCommands {
  /** The new fields of the agent's commands, by index. The fields of `_meta` are merged. */
  readonly annotated: ReadonlyMap<number, JsonRecord>;
  /** The commands of the skills that the agent does not show itself, to be appended to the agent's own. */
  readonly added: readonly JsonRecord[];
}

/** The functions that give the facts about skills. */
interface SkillFactsSource {
  /** Returns the entry with which the agent itself shows a skill; undefined if there is none. */
  readonly shownOf: (offered: OfferedSkill) => SkillOfAgent | undefined;
  readonly factsOf: (skill: Skill) => KnownFacts;
}

/** Merges skills into the agent's own commands, which stay in order and take precedence. */
export function mergeCommands(
  skills: readonly OfferedSkill[],
  dialect: CommandDialect,
  { shownOf, factsOf }: SkillFactsSource,
): MergedCommands {
  const annotated = new Map<number, JsonRecord>();
  const added: JsonRecord[] = [];
  for (const offered of skills) {
    const known = factsOf(offered.skill);
    const shown = shownOf(offered);
    if (shown === undefined) added.push(toCommand(offered, dialect, known));
    // Otherwise the name belongs to another command of the agent, which stays unchanged.
    else if (shown.kind !== "as-other") {
      const { description } = offered.skill;
      const fields = {
        ...(dialect.form === "skill" && { type: "skill", ...pathOf(offered) }),
        ...((shown.kind === "as-copy" || shown.isOutdated) && { description }),
      };
      annotated.set(shown.index, { ...fields, ...toMeta(offered, dialect, known, { ...shown.command, ...fields }) });
    }
  }
  return { annotated, added };
}

/** Makes the whole list, for an update of acp-skills. `isGone` returns true for those of the agent's commands that are deleted skills. */
export function toCommandList(
  commands: readonly unknown[],
  { annotated, added }: MergedCommands,
  isGone: (command: unknown) => boolean = () => false,
): readonly unknown[] {
  const own = commands.flatMap((command, index) => {
    if (isGone(command)) return [];
    const fields = annotated.get(index);
    if (fields === undefined || !isRecord(command)) return command;
    const _meta = { ...metaOf(command), ...metaOf(fields) };
    return { ...command, ...fields, ...(Object.keys(_meta).length > 0 && { _meta }) };
  });
  return [...own, ...added];
}

interface MadeCommand {
  readonly command: JsonRecord;
  readonly known: KnownFacts;
}

const commandsMade = new WeakMap<OfferedSkill, Map<string, MadeCommand>>();

/** Makes the command of a skill, cached per skill and dialect so that it is encoded once. */
export function toCommand(offered: OfferedSkill, dialect: CommandDialect, known: KnownFacts): JsonRecord {
  const made = commandsMade.get(offered) ?? new Map<string, MadeCommand>();
  commandsMade.set(offered, made);
  const key = `${dialect.protocol} ${dialect.jetbrains} ${dialect.declaresSkills} ${dialect.form}`;
  const before = made.get(key);
  // Clients that do not declare skills are not sent the facts.
  if (before !== undefined && (!dialect.declaresSkills || isSameFacts(before.known, known))) return before.command;
  const command = makeCommand(offered, dialect, known);
  made.set(key, { command, known });
  return command;
}

function makeCommand(offered: OfferedSkill, dialect: CommandDialect, known: KnownFacts): JsonRecord {
  const { skill } = offered;
  const isV2 = dialect.protocol === 2;
  const command = { ...(isV2 && { type: dialect.form }), name: skill.slug, description: skill.description };
  const meta = toMeta(offered, dialect, known, command);
  if (dialect.form === "skill") return { ...command, ...pathOf(offered), ...meta };
  const hint = toHint(offered);
  return { ...command, input: isV2 ? { type: "text", hint } : { hint }, ...meta };
}

/** Returns the path at which the editor, which is on this machine, can read the skill. */
function pathOf({ skill }: OfferedSkill): { readonly path: string } {
  return { path: skill.file };
}

/** Whether a skill is offered as a command. */
export function isInvocable({ skill }: OfferedSkill): boolean {
  return skill.userInvocable !== false;
}

/** Makes the hint for a skill's arguments, which is never empty: editors send a command without a hint as soon as it is selected. */
function toHint({ skill }: OfferedSkill): string {
  const declared = oneLine(skill.argumentHint ?? skill.metadata["argument-hint"] ?? "");
  if (declared !== "") return declared;
  const inputs = Object.entries(skill.manifest?.inputs ?? {});
  const names = inputs.map(([name, { required = false }]) => (required ? `<${name}>` : `[${name}]`));
  return names.length > 0 ? oneLine(names.join(" ")) : "what to do";
}

function oneLine(text: string): string {
  return withoutControls(text.replace(/\s+/g, " ").trim());
}

/** Makes the fields that are added to a command's `_meta`. */
function toMeta(
  offered: OfferedSkill,
  dialect: CommandDialect,
  known: KnownFacts,
  command: JsonRecord,
): { readonly _meta?: JsonRecord } {
  if (!dialect.declaresSkills) return {};
  const skill = projectSkill(offered, known);
  const facts = toCommandFacts(skill, { name: command["name"], description: command["description"] });
  const ours = { [metaKey]: facts };
  if (!dialect.jetbrains) return { _meta: ours };
  const existing = metaOf(command);
  const theirs = isRecord(existing["jetbrains"]) ? existing["jetbrains"] : {};
  const air = isRecord(theirs["air"]) ? theirs["air"] : { version: 1 };
  const marked = { ...air, kind: "skill", skillPath: offered.skill.file };
  return { _meta: { ...ours, jetbrains: { ...theirs, air: marked } } };
}

function metaOf(command: unknown): JsonRecord {
  return isRecord(command) && isRecord(command["_meta"]) ? command["_meta"] : {};
}
