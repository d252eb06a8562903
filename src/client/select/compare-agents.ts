import type { SkillFacts } from "../select.ts";

/** The skills of one agent, with the name by which the user knows the agent. */
export interface AgentSkills<S extends SkillFacts = SkillFacts> {
  readonly agent: string;
  readonly skills: readonly S[];
}

/** One skill across agents. Its facts are those of the first agent that has it, so that rows can be searched like skills. */
export interface ComparedSkill<S extends SkillFacts = SkillFacts> extends SkillFacts {
  /** The skill of each agent under this name, in the order of the agents; undefined for an agent without it. */
  readonly byAgent: readonly (S | undefined)[];
  /** The agents that have the skill and can use it now. */
  readonly agents: readonly string[];
  /** Whether agents have different versions or descriptions of the skill. */
  readonly differs: boolean;
}

/** Answers "which of these agents can do this": a row for each skill, those usable by most agents first, else by first sight. */
export function compareAgents<S extends SkillFacts>(agents: readonly AgentSkills<S>[]): readonly ComparedSkill<S>[] {
  const rows = new Map<string, { readonly first: S; readonly byAgent: (S | undefined)[] }>();
  for (const [index, { skills }] of agents.entries())
    for (const skill of skills) {
      const row = rows.get(skill.name) ?? { first: skill, byAgent: agents.map(() => undefined) };
      row.byAgent[index] ??= skill;
      rows.set(skill.name, row);
    }
  return Array.from(rows.values(), ({ first, byAgent }) => ({
    ...first,
    byAgent,
    agents: agents.flatMap(({ agent }, index) => (canUse(byAgent[index]) ? [agent] : [])),
    differs: byAgent.some(
      (skill) => skill && (skill.version !== first.version || skill.description !== first.description),
    ),
  })).sort((a, b) => b.agents.length - a.agents.length);
}

function canUse(skill: SkillFacts | undefined): boolean {
  return skill !== undefined && skill.state !== "blocked" && skill.state !== "denied";
}
