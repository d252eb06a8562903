import { LimitedMap } from "../../../base/limited-map.ts";
import type { Change, OfferedSkill, Skill } from "../../../skills/skill.ts";
import { isRecord, type JsonRecord, recordAt } from "../../messages/raw-message.ts";
import type { AgentFacts } from "../../negotiation/agents.ts";

/** Finds the skill that is listed under exactly this name: the skill's own name, or the name of the agent's command for it. */
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
  /** The index of the command in the agent's list. */
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

  /** Finds the commands under which a skill of this name may be shown. */
  named(name: string): readonly unknown[] {
    return [name, `$${name}`, `skill:${name}`].flatMap((shown) => this.#byName.get(shown)?.command ?? []);
  }

  /** Finds the command with a skill's name. If there are several, one that is the skill itself is preferred. */
  find(skill: Skill): NamedCommand | undefined {
    const { slug, name } = skill;
    const found = [slug, `$${slug}`, `skill:${slug}`, name].flatMap((shown) => this.#byName.get(shown) ?? []);
    return found.find(({ command }) => isSkill(command, skill)) ?? found[0];
  }
}

/** The agent's command with a skill's name: the skill, a copy that the agent read from another directory, or another command. */
export interface SkillOfAgent extends NamedCommand {
  readonly kind: "as-skill" | "as-copy" | "as-other";
  /** Whether the skill was edited since the agent read it. */
  readonly isOutdated: boolean;
}

/** The facts about a session that decide whether a skill which it does not have is deleted. */
interface Whereabouts {
  readonly directory: string | undefined;
  readonly find: (name: string) => OfferedSkill | undefined;
  /** The roots that all sessions share. */
  readonly ownRoots: readonly string[];
}

/** An earlier state of a skill, with the project directory of the session that had it. */
interface FormerSkill {
  readonly offered: OfferedSkill;
  readonly directory: string | undefined;
}

/** The maximum number of agents' commands that are remembered. */
const maxNative = 20_000;
/** The maximum numbers of changed skills that are remembered, and of descriptions of each. */
const maxChanged = 256;
const maxFormer = 8;

/** The skills that a connection's agent shows itself. The agent may have read them once, at its start. */
export class NativelyListedSkills {
  /** The recognised skills by slug: the description of the agent's command, and that of the skill at the time. */
  readonly #recognised = new Map<string, { readonly said: unknown; readonly description: string }>();
  /** The skills from which the agent made commands, by name and description of the command. */
  readonly #made = new LimitedMap<
    string,
    { readonly slug: string; readonly sources: readonly string[]; readonly directory: string | undefined }
  >(maxNative);
  /** The skills by slug, as they were before changes: an agent may list a skill as it read it. */
  readonly #former = new LimitedMap<string, readonly FormerSkill[]>(maxChanged);
  #hasListed = false;

  /** Called when skills of a session changed. */
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

  /** Called when the agent of this connection sent a list of commands. */
  listed(): void {
    this.#hasListed = true;
  }

  /** Whether the agent is expected to list commands: it has listed some, or is known to list them. */
  isListExpected({ listsCommands }: AgentFacts): boolean {
    return this.#hasListed || listsCommands;
  }

  /**
   * Recognises skills in a list. They stay recognised, because agents may show a skill as it was before an edit. `isOwn` returns true if
   * the agent may have read the same files as acp-skills.
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
      // A copy that the agent read from another directory may still exist when the skill is deleted.
      if (this.#recognised.has(slug) && isOwn(offered)) this.#made.set(keyOf(command), { slug, sources, directory });
    }
    for (const { offered, directory: its } of [...this.#former.values()].flat()) {
      const { skill, sources } = offered;
      const command = list.find(skill)?.command;
      if (command !== undefined && isSkill(command, skill) && isOwn(offered))
        this.#made.set(keyOf(command), { slug: skill.slug, sources, directory: its });
    }
  }

  /** Finds the former states of a skill in sessions of this directory. A skill of another project may be another skill. */
  #formerOf(slug: string, directory: string | undefined): readonly Skill[] {
    const former = this.#former.get(slug) ?? [];
    return former.flatMap(({ offered, directory: its }) => (its === directory ? [offered.skill] : []));
  }

  /** Finds the command with which a list shows a skill; undefined if there is none. */
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
    // After an edit that only lengthened or shortened it, a description still looks like a truncated one.
    const isOutdated = known.description !== skill.description || !hasDescription(found.command, skill);
    return { ...found, kind: isOwn(offered) ? "as-skill" : "as-copy", isOutdated };
  }

  /** Whether a command is a skill that is deleted. A later command with that name has another description. */
  isGone(command: unknown, { directory, find, ownRoots }: Whereabouts): boolean {
    const known = this.#made.size === 0 ? undefined : this.#made.get(keyOf(command));
    if (known === undefined || find(known.slug) !== undefined) return false;
    // The skills of another project are unknown here.
    return known.directory === directory || known.sources.some((source) => ownRoots.includes(source));
  }
}

function keyOf(command: unknown): string {
  const { name, description } = recordAt(command) ?? {};
  return JSON.stringify([name, description]);
}

/** Whether a command is the skill: agents show a skill with its description, whole, truncated, or with a suffix. */
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
