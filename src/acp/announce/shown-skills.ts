import type { OfferedSkill, Skill } from "../../skills/skill.ts";
import type { AgentFacts } from "../session/agents.ts";
import { isRecord } from "../bytes/raw-message.ts";

/**
 * What the agent's own list has under a skill's name: nothing, the same skill, a copy that the agent read elsewhere, or another
 * command with the same name.
 */
export type Shown = "not" | "as-skill" | "as-copy" | "as-other";

/** The skills that a connection's agent shows itself. */
export interface ShownSkills {
  /** Recognises skills in a list. They stay recognised, because agents may show what they read before an edit. */
  readonly learn: (commands: readonly unknown[], skills: readonly OfferedSkill[]) => void;
  /** `isOwn`: the agent may have read the same files as we did. */
  readonly how: (commands: readonly unknown[], offered: OfferedSkill, isOwn: boolean) => Shown;
  /** The agent of this connection sent a list of commands. */
  readonly listed: () => void;
  /** Whether the agent is expected to list commands: it has done so, or is known to. */
  readonly isListExpected: (facts: AgentFacts) => boolean;
  /** Whether a command is a skill that was edited since the agent read it. */
  readonly isOutdated: (command: unknown, skill: Skill) => boolean;
}

/** The index of the agent's command with a skill's name; -1 if there is none. */
export function placeInAgentList(commands: readonly unknown[], { skill }: OfferedSkill): number {
  const names = shownNames(skill);
  return commands.findIndex((command) => isRecord(command) && names.includes(String(command["name"])));
}

/** The names under which agents show a skill. */
export function shownNames({ slug, name }: Skill): readonly string[] {
  return [slug, `$${slug}`, `skill:${slug}`, name];
}

export function openShownSkills(): ShownSkills {
  const recognised = new Set<string>();
  let hasListed = false;
  return {
    listed() {
      hasListed = true;
    },
    isListExpected: ({ listsCommands }) => hasListed || listsCommands,
    learn(commands, skills) {
      if (commands.length === 0) return;
      const byName = new Map(commands.map((command) => [isRecord(command) ? command["name"] : undefined, command]));
      for (const { skill } of skills) {
        if (shownNames(skill).some((name) => isSkill(byName.get(name), skill))) recognised.add(skill.slug);
      }
    },
    how(commands, offered, isOwn) {
      if (placeInAgentList(commands, offered) === -1) return "not";
      if (!recognised.has(offered.skill.slug)) return "as-other";
      return isOwn ? "as-skill" : "as-copy";
    },
    isOutdated: (command, skill) => recognised.has(skill.slug) && !hasDescription(command, skill),
  };
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
