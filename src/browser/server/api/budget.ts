import { countCodePoints } from "../../../base/text/code-points.ts";
import type { Budget } from "../../wire/sessions.ts";
import type { MountBrowse } from "../browse-context.ts";

/** `GET /api/budget`: the cost, in estimated tokens, of the skills that models see in their context. */
export const mountBudget: MountBrowse = ({ skills }) => ({
  async "GET /api/budget"() {
    const seen = (await skills.all()).flatMap(({ offered, row }) =>
      offered === undefined || offered.skill.disableModelInvocation === true || row.state === "denied" ? [] : [row],
    );
    const listed = seen.map(({ id, name, description }) => ({
      id,
      name: name.length,
      description: countCodePoints(description),
    }));
    const budget: Budget = {
      skills: seen.length,
      listed: sum(seen.map(({ tokens }) => tokens.listed)),
      instructions: sum(seen.map(({ tokens }) => tokens.instructions)),
      agents: agents.map(({ agent, says, reference, ...limits }) => ({
        ...{ agent, says, reference },
        ...cutDescriptions(listed, limits),
      })),
    };
    return { json: budget };
  },
});

/**
 * The limits that agents have published for the list of skills that their model reads (November 2026). Agents without published limits are
 * left out: opencode, Gemini CLI, qwen-code and Copilot list everything, as far as is known.
 */
const agents = [
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

/** The published limits of an agent's list. */
interface ListLimits {
  /** The maximum number of characters of one description. */
  readonly description?: number;
  /** The maximum number of characters of all names and descriptions together. */
  readonly total?: number;
  /** Whether the agent leaves skills out if the names alone exceed `total`. */
  readonly omits: boolean;
}

/**
 * Finds the descriptions that are cut, and the skills that are left out. If all together are too long, descriptions are cut to one length
 * that fits. An agent that prefers skills in frequent use cuts others, but about as many.
 */
export function cutDescriptions(
  skills: readonly ListedSkill[],
  { description: longest = Infinity, total = Infinity, omits }: ListLimits,
): { readonly truncated: readonly string[]; readonly omitted: readonly string[] } {
  let used = 0;
  // The skills after the last one whose name fits.
  const tooMany = skills.filter(({ name }) => (used += name) > total);
  const omitted = new Set(omits ? tooMany : []);
  const capped = skills.map(({ description }) => Math.min(description, longest));
  const length = Math.min(longest, fittingLength(capped, Math.max(0, total - used)));
  const truncated = skills.filter((skill) => !omitted.has(skill) && skill.description > length);
  return { truncated: truncated.map(({ id }) => id), omitted: Array.from(omitted, ({ id }) => id) };
}

/** The greatest length to which all can be cut so that their sum is at most `room`; infinite if none has to be cut. */
function fittingLength(lengths: readonly number[], room: number): number {
  let left = room;
  for (const [at, length] of [...lengths].sort((a, b) => a - b).entries()) {
    const share = left / (lengths.length - at);
    if (length > share) return Math.floor(share);
    left -= length;
  }
  return Infinity;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
