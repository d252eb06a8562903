import type { ListLimits } from "./cut-descriptions.ts";

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
export const agentLimits: readonly AgentLimits[] = [
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
