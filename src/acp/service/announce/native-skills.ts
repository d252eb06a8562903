import { LimitedMap } from "../../../base/limited-map.ts";
import type { Change, OfferedSkill, Skill } from "../../../skills/skill.ts";
import { isRecord, type JsonRecord, recordAt } from "../../messages/raw-message.ts";
import type { AgentFacts } from "../../negotiation/agents.ts";

/** The skill that stands under exactly this name in a list of commands: its own, or that of the agent's command for it. */
export function findListed(
  name: string,
  catalog: { readonly find: (slug: string) => OfferedSkill | undefined },
  session: { readonly shown: (offered: OfferedSkill) => SkillOfAgent | undefined },
): OfferedSkill | undefined {
  const offered = catalog.find(name.replace(/^(?:\$|skill:)/, ""));
  const shown = offered && session.shown(offered);
  const command = shown === undefined || shown.kind === "as-other" ? undefined : shown.command["name"];
  return name === (command ?? offered?.skill.slug) ? offered : undefined;
}

/** A command of the agent with a skill's name. */
interface NamedCommand {
  /** Its index in the agent's list. */
  readonly index: number;
  readonly command: JsonRecord;
}

/** A list of the agent's commands, by name. */
export class AgentCommands {
  readonly commands: readonly unknown[];
  readonly #byName = new Map<unknown, NamedCommand>();

  constructor(commands: readonly unknown[]) {
    this.commands = commands;
    for (const [index, command] of commands.entries())
      if (isRecord(command) && !this.#byName.has(command["name"]))
        this.#byName.set(command["name"], { index, command });
  }

  /** The commands under which a skill of this name may be shown. */
  named(name: string): readonly unknown[] {
    return [name, `$${name}`, `skill:${name}`].flatMap((shown) => this.#byName.get(shown)?.command ?? []);
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

/** A skill as a session had it. */
interface FormerSkill {
  readonly offered: OfferedSkill;
  readonly directory: string | undefined;
}

/** How many commands of agents are remembered. */
const maxNative = 20_000;
/** How many changed skills are remembered, and how many descriptions of each. */
const maxChanged = 256;
const maxFormer = 8;

/** The skills that a connection's agent shows itself. It may have read them once, at its start. */
export class NativelyListedSkills {
  /** By slug, what the agent said and what the skill's description was then. */
  readonly #recognised = new Map<string, { readonly said: unknown; readonly description: string }>();
  /** The skills that commands were made of, by name and description of the command. */
  readonly #made = new LimitedMap<
    string,
    { readonly slug: string; readonly sources: readonly string[]; readonly directory: string | undefined }
  >(maxNative);
  /** By slug, skills as they were before changes: an agent may list what it read then. */
  readonly #former = new LimitedMap<string, readonly FormerSkill[]>(maxChanged);
  #hasListed = false;

  /** Skills of a session changed. */
  changed({ removed, changed }: Pick<Change, "removed" | "changed">, directory: string | undefined): void {
    for (const offered of [...removed, ...changed.map(({ before }) => before)]) {
      const { slug, description } = offered.skill;
      const before = this.#former.get(slug) ?? [];
      const others = before.filter(
        (former) => former.directory !== directory || former.offered.skill.description !== description,
      );
      this.#former.set(slug, [...others, { offered, directory }].slice(-maxFormer));
    }
  }

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
      const { slug } = skill;
      const command = list.find(skill)?.command;
      if (command === undefined) continue;
      const said = command["description"];
      const read = [skill, ...this.#formerOf(slug, directory)].find((one) => isSkill(command, one));
      if (read !== undefined && this.#recognised.get(slug)?.said !== said)
        this.#recognised.set(slug, { said, description: read.description });
      // A copy that the agent read elsewhere may still be there when ours is deleted.
      if (this.#recognised.has(slug) && isOwn(offered)) this.#made.set(keyOf(command), { slug, sources, directory });
    }
    for (const { offered, directory: its } of [...this.#former.values()].flat()) {
      const { skill, sources } = offered;
      const command = list.find(skill)?.command;
      if (command !== undefined && isSkill(command, skill) && isOwn(offered))
        this.#made.set(keyOf(command), { slug: skill.slug, sources, directory: its });
    }
  }

  /** As sessions of this directory had it: what another project had says nothing about it. */
  #formerOf(slug: string, directory: string | undefined): readonly Skill[] {
    const former = this.#former.get(slug) ?? [];
    return former.flatMap(({ offered, directory: its }) => (its === directory ? [offered.skill] : []));
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
