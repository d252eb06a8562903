import { LimitedMap } from "../../base/limited-map.ts";
import type { AgentFacts } from "../session/agents.ts";
import { type JsonRecord, recordAt } from "../bytes/raw-message.ts";
import { type KnownServer, type OwnCall, recogniseCall, toldInput } from "./recognise-call.ts";

/** The calls of our tools that a session's editor knows: later messages may have only their id. */
export interface KnownCalls {
  /** Records a tool call or an update of one; returns what is known about it, undefined if it is not ours. */
  learn(toolCall: JsonRecord): OwnCall | undefined;
  find(toolCallId: unknown): OwnCall | undefined;
}

/** How many calls of a session are remembered. */
const limit = 256;

export function openKnownCalls(server: KnownServer, facts: AgentFacts): KnownCalls {
  const entries = new LimitedMap<string, OwnCall>(limit);
  return {
    learn(toolCall) {
      const { toolCallId, status } = toolCall;
      if (typeof toolCallId !== "string") return undefined;
      const told = recogniseCall(toolCall, server, facts);
      const entry = told === undefined && namesSomething(toolCall) ? undefined : entries.get(toolCallId);
      const tool = told?.tool ?? entry?.tool;
      if (tool === undefined) {
        entries.delete(toolCallId);
        return undefined;
      }
      const before = entry?.tool === tool ? entry : undefined;
      const call = { tool, input: told?.input ?? toldInput(toolCall) ?? before?.input };
      if (status === "completed" || status === "failed") entries.delete(toolCallId);
      else entries.set(toolCallId, call);
      return call;
    },
    find: (toolCallId) => (typeof toolCallId === "string" ? entries.get(toolCallId) : undefined),
  };
}

/** Whether a message names its tool: the id of one of our calls may have been reused. */
function namesSomething(toolCall: JsonRecord): boolean {
  const meta = recordAt(toolCall, "_meta");
  return (
    toolCall["sessionUpdate"] === "tool_call" ||
    typeof toolCall["name"] === "string" ||
    typeof meta?.["toolName"] === "string" ||
    typeof recordAt(meta, "claudeCode")?.["toolName"] === "string"
  );
}
