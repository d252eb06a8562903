import type { PlannedCall } from "./mock-model.ts";
import { type RealAgent, claude, codex } from "./real-agents.ts";

/** By which calls the model of an agent gives a task to a subagent, and waits for it; undefined for agents that announce no subagents. */
export function delegationOf(agent: RealAgent, task: string): readonly PlannedCall[] | undefined {
  if (agent === claude)
    return [{ tool: "Agent", input: { description: "Counts", prompt: task, subagent_type: "general-purpose" } }];
  if (agent === codex)
    return [
      { tool: "spawn_agent", input: { message: task } },
      { tool: "wait_agent", input: { timeout_ms: 60_000 } },
    ];
  return undefined;
}
