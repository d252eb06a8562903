import type { OfferedSkill, Skill } from "../../../skills/skill.ts";
import { LimitedMap } from "../../../base/limited-map.ts";
import { withoutControls } from "../../../base/text/unsafe-characters.ts";
import { type KnownFacts, isSameFacts, projectSkill, toCommandFacts } from "../../../wire/command-facts.ts";
import { metaKey } from "../../../wire/methods.ts";
import { isRecord, type JsonRecord, recordAt } from "../../messages/raw-message.ts";
import type { AgentFacts } from "../../negotiation/agents.ts";
import type { Forms, Negotiation } from "../../negotiation.ts";

/** The form of commands for one editor. */
interface CommandDialect extends Pick<Negotiation, "protocol" | "jetbrains" | "declaresSkills"> {
  readonly form: NonNullable<Forms["commands"]>;
}

/** How skills are merged into an agent's list of commands. */
export interface MergedCommands {
  /** New fields of the agent's commands, by index; those of `_meta` are merged. */
  readonly annotated: ReadonlyMap<number, JsonRecord>;
  /** One command for each skill that the agent does not show itself, after the agent's own. */
  readonly added: readonly JsonRecord[];
}

/** What merging needs to know of skills. */
interface SkillFactsSource {
  /** How the agent itself shows a skill, if it does. */
  readonly shownOf: (offered: OfferedSkill) => SkillOfAgent | undefined;
  readonly factsOf: (skill: Skill) => KnownFacts;
}

/** Merges skills into the agent's own commands, which keep their order and take precedence. */
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
    // Otherwise the name is another command of the agent, which keeps it.
    else if (shown.kind !== "as-other") {
      const { description } = offered.skill;
      const fields = {
        ...(dialect.form === "skill" && { type: "skill", ...pathOf(offered) }),
        ...((shown.kind === "as-copy" || shown.isOutdated) && { description }),
      };
      annotated.set(shown.place, { ...fields, ...toMeta(offered, dialect, known, { ...shown.command, ...fields }) });
    }
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
  const key = `${dialect.protocol} ${dialect.jetbrains} ${dialect.declaresSkills} ${dialect.form}`;
  const before = made.get(key);
  // Others are not sent the facts.
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

/** Where the editor, which is on this machine, can read the skill. */
function pathOf({ skill }: OfferedSkill): { readonly path: string } {
  return { path: skill.file };
}

/** Whether a skill is offered as a command. */
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

/** The name of a skill, from that of an agent's command for it. */
export function withoutSigil(name: string): string {
  return name.replace(/^(?:\$|skill:)/, "");
}

/** The fields that are added to a command's `_meta`. */
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

/** A command of the agent with a skill's name. */
interface NamedCommand {
  /** Its index in the agent's list. */
  readonly place: number;
  readonly command: JsonRecord;
}

/** A list of the agent's commands, by name. */
export class AgentCommands {
  readonly commands: readonly unknown[];
  readonly #byName = new Map<unknown, NamedCommand>();

  constructor(commands: readonly unknown[]) {
    this.commands = commands;
    for (const [place, command] of commands.entries())
      if (isRecord(command) && !this.#byName.has(command["name"]))
        this.#byName.set(command["name"], { place, command });
  }

  /** The command with a skill's name: the skill itself, if several have it. */
  find(skill: Skill): NamedCommand | undefined {
    const { slug, name } = skill;
    const found = [slug, `$${slug}`, `skill:${slug}`, name].flatMap((shown) => this.#byName.get(shown) ?? []);
    return found.find(({ command }) => isSkill(command, skill)) ?? found[0];
  }
}

/** The agent's command with a skill's name: the same skill, a copy that the agent read elsewhere, or another command. */
export interface SkillOfAgent extends NamedCommand {
  readonly kind: "as-skill" | "as-copy" | "as-other";
  /** The skill was edited since the agent read it. */
  readonly isOutdated: boolean;
}

/** What a session can find out about a skill that it does not have. */
interface Whereabouts {
  readonly directory: string | undefined;
  readonly find: (name: string) => OfferedSkill | undefined;
  /** The roots that are the same for all sessions. */
  readonly ownRoots: readonly string[];
}

/** How many commands of agents are remembered. */
const mostNative = 20_000;

/** The skills that a connection's agent shows itself. It may have read them once, at its start. */
export class NativelyListedSkills {
  /** By slug, what the agent said and what the skill's description was then. */
  readonly #recognised = new Map<string, { readonly said: unknown; readonly description: string }>();
  /** The skills that commands were made of, by name and description of the command. */
  readonly #made = new LimitedMap<
    string,
    { readonly slug: string; readonly sources: readonly string[]; readonly directory: string | undefined }
  >(mostNative);
  #hasListed = false;

  /** The agent of this connection sent a list of commands. */
  listed(): void {
    this.#hasListed = true;
  }

  /** Whether the agent is expected to list commands: it has done so, or is known to. */
  isListExpected({ listsCommands }: AgentFacts): boolean {
    return this.#hasListed || listsCommands;
  }

  /**
   * Recognises skills in a list. They stay recognised, because agents may show what they read before an edit. `isOwn`: the agent may
   * have read the same files as we did.
   */
  learn(
    list: AgentCommands,
    skills: readonly OfferedSkill[],
    directory: string | undefined,
    isOwn: (offered: OfferedSkill) => boolean,
  ): void {
    if (list.commands.length === 0) return;
    for (const offered of skills) {
      const { skill, sources } = offered;
      const { slug, description } = skill;
      const command = list.find(skill)?.command;
      if (command === undefined) continue;
      const said = command["description"];
      if (isSkill(command, skill) && this.#recognised.get(slug)?.said !== said)
        this.#recognised.set(slug, { said, description });
      // A copy that the agent read elsewhere may still be there when ours is deleted.
      if (this.#recognised.has(slug) && isOwn(offered)) this.#made.set(keyOf(command), { slug, sources, directory });
    }
  }

  /** How a list shows a skill, if it does. */
  shown(
    list: AgentCommands,
    offered: OfferedSkill,
    isOwn: (offered: OfferedSkill) => boolean,
  ): SkillOfAgent | undefined {
    const { skill } = offered;
    const found = list.find(skill);
    if (found === undefined) return undefined;
    const known = this.#recognised.get(skill.slug);
    if (known === undefined) return { ...found, kind: "as-other", isOutdated: false };
    // A description that was only made longer or shorter still looks like the one that was cut off.
    const isOutdated = known.description !== skill.description || !hasDescription(found.command, skill);
    return { ...found, kind: isOwn(offered) ? "as-skill" : "as-copy", isOutdated };
  }

  /** Whether a command is a skill that is deleted: a later command of that name says something else. */
  isGone(command: unknown, { directory, find, ownRoots }: Whereabouts): boolean {
    const known = this.#made.size === 0 ? undefined : this.#made.get(keyOf(command));
    if (known === undefined || find(known.slug) !== undefined) return false;
    // Another project says nothing about it.
    return known.directory === directory || known.sources.some((source) => ownRoots.includes(source));
  }
}

function keyOf(command: unknown): string {
  const { name, description } = recordAt(command) ?? {};
  return JSON.stringify([name, description]);
}

/** Agents show a skill with its description: whole, cut, or with a suffix. */
function isSkill(command: JsonRecord, skill: Skill): boolean {
  const isMarked = command["name"] === `$${skill.slug}` || command["name"] === `skill:${skill.slug}`;
  return isMarked || hasDescription(command, skill);
}

function hasDescription(command: JsonRecord, { description }: Skill): boolean {
  if (typeof command["description"] !== "string") return false;
  const said = command["description"].trim().replace(/(?:…|\.{3})$/, "");
  return said.startsWith(description) || (said !== "" && description.startsWith(said));
}

/**
 * Whether an agent itself reads one of the roots under which a skill was found; undefined if unknown. Roots are absolute, as
 * configured.
 */
export function readsItself({ reads }: AgentFacts, roots: readonly string[], home: string): boolean | undefined {
  if (reads === undefined) return undefined;
  const ofHome = withSlashes(home).replace(/\/$/, "");
  return roots.map(withSlashes).some((root) => {
    if (reads.home.some((read) => root === `${ofHome}/${read}`)) return true;
    return !root.startsWith(`${ofHome}/.`) && reads.project.some((read) => root.endsWith(`/${read}`));
  });
}

function withSlashes(path: string): string {
  return path.replaceAll("\\", "/");
}
