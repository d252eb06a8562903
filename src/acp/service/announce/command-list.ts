import type { OfferedSkill, Skill } from "../../../skills/skill.ts";
import { LimitedMap } from "../../../base/limited-map.ts";
import { withoutControls } from "../../../base/text/unsafe-characters.ts";
import { type KnownFacts, isSameFacts, projectSkill, toCommandFacts } from "../../../wire/command-facts.ts";
import { metaKey } from "../../../wire/methods.ts";
import { isRecord, type JsonRecord, recordAt } from "../../messages/raw-message.ts";
import type { AgentFacts } from "../../negotiation/agents.ts";
import { clientDeclaresSkills, type Negotiation } from "../../negotiation.ts";

/** The form of commands for one editor. */
type CommandDialect = Pick<Negotiation, "protocol" | "jetbrains"> & Partial<Pick<Negotiation, "optIn">>;

/** How skills are merged into an agent's list of commands. */
export interface MergedCommands {
  /** New fields of the agent's commands, by index; those of `_meta` are merged. */
  readonly annotated: ReadonlyMap<number, JsonRecord>;
  /** One command for each skill that the agent does not show itself, after the agent's own. */
  readonly added: readonly JsonRecord[];
}

/** The skills that the agent shows itself. */
interface HowShown {
  /** Whether a command is a skill that was edited since the agent read it. */
  readonly isOutdated: NativelyListedSkills["isOutdated"];
  readonly how: (offered: OfferedSkill) => Shown;
  readonly factsOf: (skill: Skill) => KnownFacts;
}

/** Merges skills into the agent's own commands, which keep their order and take precedence. */
export function mergeCommands(
  commands: readonly unknown[],
  skills: readonly OfferedSkill[],
  dialect: CommandDialect,
  { isOutdated, how, factsOf }: HowShown,
): MergedCommands {
  const annotated = new Map<number, JsonRecord>();
  const added: JsonRecord[] = [];
  const places = new Map(commands.map((command, index) => [isRecord(command) ? command["name"] : undefined, index]));
  for (const offered of skills) {
    const known = factsOf(offered.skill);
    const isShown = shownNames(offered.skill).some((name) => places.has(name));
    const place = isShown ? placeInAgentList(commands, offered) : -1;
    if (place === -1) {
      added.push(toCommand(offered, dialect, known));
      continue;
    }
    const kind = how(offered);
    // The name is another command of the agent, which keeps it.
    if (kind === "as-other") continue;
    const command = commands[place];
    const { description } = offered.skill;
    const fields = kind === "as-copy" || isOutdated(command, offered.skill) ? { description } : {};
    const shown = isRecord(command) ? { ...command, ...fields } : fields;
    annotated.set(place, { ...fields, ...toMeta(offered, dialect, known, shown) });
  }
  return { annotated, added };
}

/** The whole list, for an update of our own. `isGone`: which of the agent's commands were skills that are deleted. */
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

/** The command of a skill, cached per skill and dialect so that it is encoded once. */
export function toCommand(offered: OfferedSkill, dialect: CommandDialect, known: KnownFacts): JsonRecord {
  const made = commandsMade.get(offered) ?? new Map<string, MadeCommand>();
  commandsMade.set(offered, made);
  const key = `${dialect.protocol} ${dialect.jetbrains} ${clientDeclaresSkills(dialect)}`;
  const before = made.get(key);
  if (before !== undefined && isSameFacts(before.known, known)) return before.command;
  const command = makeCommand(offered, dialect, known);
  made.set(key, { command, known });
  return command;
}

function makeCommand(offered: OfferedSkill, dialect: CommandDialect, known: KnownFacts): JsonRecord {
  const { skill } = offered;
  const hint = toHint(offered);
  const isV2 = dialect.protocol === 2;
  const command = { ...(isV2 && { type: "command" }), name: skill.slug, description: skill.description };
  return {
    ...command,
    input: isV2 ? { type: "text", hint } : { hint },
    ...toMeta(offered, dialect, known, command),
  };
}

/** The skills that are offered as commands: all but those with `user-invocable: false`. */
export function toInvocable(offered: readonly OfferedSkill[]): readonly OfferedSkill[] {
  return offered.every(isInvocable) ? offered : offered.filter(isInvocable);
}

export function isInvocable({ skill }: OfferedSkill): boolean {
  return skill.userInvocable !== false;
}

/** Editors send a command without a hint as soon as it is selected; skills usually need arguments. */
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

/** The fields that are added to a command's `_meta`. */
function toMeta(
  offered: OfferedSkill,
  dialect: CommandDialect,
  known: KnownFacts,
  command: JsonRecord,
): { readonly _meta?: JsonRecord } {
  if (!clientDeclaresSkills(dialect)) return {};
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

/**
 * What the agent's own list has under a skill's name: nothing, the same skill, a copy that the agent read elsewhere, or another
 * command with the same name.
 */
export type Shown = "not" | "as-skill" | "as-copy" | "as-other";

/** The index of the agent's command with a skill's name; -1 if there is none. */
export function placeInAgentList(commands: readonly unknown[], { skill }: OfferedSkill): number {
  const names = shownNames(skill);
  return commands.findIndex((command) => isRecord(command) && names.includes(String(command["name"])));
}

/** The names under which agents show a skill. */
function shownNames({ slug, name }: Skill): readonly string[] {
  return [slug, `$${slug}`, `skill:${slug}`, name];
}

/** What a session can find out about a skill that it does not have. */
interface Whereabouts {
  readonly directory: string | undefined;
  readonly find: (name: string) => OfferedSkill | undefined;
  /** The roots that are the same for all sessions. */
  readonly ownRoots: readonly string[];
}

interface NativeSkill {
  readonly slug: string;
  readonly sources: readonly string[];
  readonly directory: string | undefined;
}

/** How many commands of agents are remembered. */
const mostNative = 20_000;

/** The commands that the agent of a connection made of skills, which it may have read once, at its start. */
class NativeCommands {
  /** By name and description of the command. */
  readonly #skills = new LimitedMap<string, NativeSkill>(mostNative);

  learn(
    commands: readonly unknown[],
    skills: readonly OfferedSkill[],
    { directory }: Pick<Whereabouts, "directory">,
    how: (offered: OfferedSkill) => Shown,
  ): void {
    const byName = new Map(commands.map((command) => [recordAt(command)?.["name"], command]));
    for (const offered of skills) {
      const { skill, sources } = offered;
      const name = shownNames(skill).find((one) => byName.has(one));
      // A copy that the agent read elsewhere may still be there.
      if (name === undefined || how(offered) !== "as-skill") continue;
      this.#skills.set(keyOf(byName.get(name)), { slug: skill.slug, sources, directory });
    }
  }

  /** Whether a command is a skill that is deleted: a later command of that name says something else. */
  isGone(command: unknown, { directory, find, ownRoots }: Whereabouts): boolean {
    const known = this.#skills.size === 0 ? undefined : this.#skills.get(keyOf(command));
    if (known === undefined || find(known.slug) !== undefined) return false;
    // Another project says nothing about it.
    return known.directory === directory || known.sources.some((source) => ownRoots.includes(source));
  }
}

function keyOf(command: unknown): string {
  const { name, description } = recordAt(command) ?? {};
  return JSON.stringify([name, description]);
}

/** Whether a command has a name of a skill. */
export function isCommandOfSkill(command: unknown, slug: string): boolean {
  return isRecord(command) && [slug, `$${slug}`, `skill:${slug}`].includes(String(command["name"]));
}

/** The skills that a connection's agent shows itself. */
export class NativelyListedSkills {
  /** By slug, what the agent said and what the skill's description was then. */
  readonly #recognised = new Map<string, { readonly said: unknown; readonly description: string }>();
  readonly native = new NativeCommands();
  #hasListed = false;

  /** The agent of this connection sent a list of commands. */
  listed(): void {
    this.#hasListed = true;
  }

  /** Whether the agent is expected to list commands: it has done so, or is known to. */
  isListExpected({ listsCommands }: AgentFacts): boolean {
    return this.#hasListed || listsCommands;
  }

  /** Recognises skills in a list. They stay recognised, because agents may show what they read before an edit. */
  learn(commands: readonly unknown[], skills: readonly OfferedSkill[]): void {
    if (commands.length === 0) return;
    const byName = new Map(commands.map((command) => [isRecord(command) ? command["name"] : undefined, command]));
    for (const { skill } of skills) {
      const command = shownNames(skill)
        .map((name) => byName.get(name))
        .find((one) => isSkill(one, skill));
      if (command === undefined) continue;
      const said = recordAt(command)?.["description"];
      if (this.#recognised.get(skill.slug)?.said !== said)
        this.#recognised.set(skill.slug, { said, description: skill.description });
    }
  }

  /** `isOwn`: the agent may have read the same files as we did. */
  how(commands: readonly unknown[], offered: OfferedSkill, isOwn: boolean): Shown {
    if (placeInAgentList(commands, offered) === -1) return "not";
    if (!this.#recognised.has(offered.skill.slug)) return "as-other";
    return isOwn ? "as-skill" : "as-copy";
  }

  /** Whether a command is a skill that was edited since the agent read it. */
  isOutdated(command: unknown, skill: Skill): boolean {
    const known = this.#recognised.get(skill.slug);
    // A description that was only made longer or shorter still looks like the one that was cut off.
    return known !== undefined && (known.description !== skill.description || !hasDescription(command, skill));
  }
}

/** Agents show a skill with its description: whole, cut, or with a suffix. */
function isSkill(command: unknown, skill: Skill): boolean {
  if (!isRecord(command)) return false;
  const isMarked = command["name"] === `$${skill.slug}` || command["name"] === `skill:${skill.slug}`;
  return isMarked || hasDescription(command, skill);
}

function hasDescription(command: unknown, { description }: Skill): boolean {
  if (!isRecord(command) || typeof command["description"] !== "string") return false;
  const said = command["description"].trim().replace(/(?:…|\.{3})$/, "");
  return said.startsWith(description) || (said !== "" && description.startsWith(said));
}
