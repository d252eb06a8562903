import { countCodePoints } from "../../../base/text/code-points.ts";
import type { Budget } from "../../wire/sessions.ts";
import type { MountBrowse } from "../browse-door.ts";

/** `GET /api/budget`: what the skills that models see cost in their context. */
export const mountBudget: MountBrowse = ({ skills }) => [
  {
    method: "GET",
    path: "/api/budget",
    async answer() {
      const seen = (await skills.all()).filter(
        ({ offered, row }) =>
          offered !== undefined && offered.skill.disableModelInvocation !== true && row.state !== "denied",
      );
      const listed = seen.map(({ row }) => ({
        id: row.id,
        name: row.name.length,
        description: countCodePoints(row.description),
      }));
      const total = (kind: "listed" | "instructions"): number =>
        seen.reduce((all, { row }) => all + row.tokens[kind], 0);
      const budget: Budget = {
        skills: seen.length,
        listed: total("listed"),
        instructions: total("instructions"),
        agents: agentLimits.map(({ agent, description, total: most, says, reference, omits }) => {
          const limits = {
            ...(description !== undefined && { description }),
            ...(most !== undefined && { total: most }),
            omits,
          };
          return { agent, says, reference, ...cutDescriptions(listed, limits) };
        }),
      };
      return { json: budget };
    },
  },
];

interface AgentLimits extends ListLimits {
  readonly agent: string;
  /** What the agent says about it, in a sentence. */
  readonly says: string;
  /** Where that is published. */
  readonly reference: string;
}

/**
 * What agents have published about the list of skills that their model reads (November 2026). Agents that published nothing are not here:
 * opencode, Gemini CLI, qwen-code and Copilot list everything, as far as is known.
 */
const agentLimits: readonly AgentLimits[] = [
  {
    agent: "Claude",
    description: 1_536,
    total: 8_000,
    omits: false,
    says: "1% of the model's context window, or 8,000 characters; names are always listed, descriptions are shortened",
    reference: "https://code.claude.com/docs/en/skills",
  },
  {
    agent: "Codex",
    description: 1_024,
    total: 8_000,
    omits: true,
    says: "2% of the model's context window, or 8,000 characters where that is not known; descriptions are shortened, then skills left out",
    reference: "https://developers.openai.com/codex/skills",
  },
];

/** A skill in a list that a model reads, in characters. */
export interface ListedSkill {
  readonly id: string;
  readonly name: number;
  readonly description: number;
}

/** What an agent does with its list, by its published limits. */
interface ListLimits {
  /** Characters of one description. */
  readonly description?: number;
  /** Characters of names and descriptions together. */
  readonly total?: number;
  /** Whether it leaves skills out where names alone are too much. */
  readonly omits: boolean;
}

interface CutList {
  readonly truncated: readonly string[];
  readonly omitted: readonly string[];
}

/**
 * Which descriptions are cut, and which skills left out. Where all together are too long, descriptions are shortened to one length that
 * fits: an agent that prefers skills that are used often cuts others, but about as many.
 */
export function cutDescriptions(skills: readonly ListedSkill[], { description, total, omits }: ListLimits): CutList {
  const capped = skills.map((skill) => Math.min(skill.description, description ?? Infinity));
  const names = sum(skills.map(({ name }) => name));
  const left = (total ?? Infinity) - names;
  const length = left >= sum(capped) ? Infinity : fittingLength(capped, Math.max(0, left));
  const omitted = omits && left < 0 ? tooMany(skills, total ?? Infinity) : [];
  const gone = new Set(omitted);
  return {
    truncated: skills
      .filter(({ id, description: all }) => !gone.has(id) && all > Math.min(length, description ?? Infinity))
      .map(({ id }) => id),
    omitted,
  };
}

/** The greatest length to which all can be cut so that together they are at most `room`. */
function fittingLength(lengths: readonly number[], room: number): number {
  const sorted = [...lengths].sort((a, b) => a - b);
  let left = room;
  for (const [at, length] of sorted.entries()) {
    const share = left / (sorted.length - at);
    if (length > share) return Math.floor(share);
    left -= length;
  }
  return Infinity;
}

/** The skills after the last one whose name fits. */
function tooMany(skills: readonly ListedSkill[], total: number): readonly string[] {
  let used = 0;
  return skills
    .filter(({ name }) => {
      used += name;
      return used > total;
    })
    .map(({ id }) => id);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
