import type { AgentFacts } from "../session/agents.ts";
import { type JsonRecord, recordAt } from "../bytes/raw-message.ts";
import { type KnownServer, type OwnCall, recogniseCall, toldInput } from "./recognise-call.ts";

/** The calls of our tools of which a session's editor was told, so that a later message which has only their id is understood. */
export interface KnownCalls {
  /** Learns from a tool call, or an update of one; returns what is known of it by now. Undefined where it is not ours. */
  learn(toolCall: JsonRecord): OwnCall | undefined;
  find(toolCallId: unknown): OwnCall | undefined;
}

/** So many calls of a session are remembered. */
const limit = 256;

export function openKnownCalls(server: KnownServer, facts: AgentFacts): KnownCalls {
  const entries = new Map<string, OwnCall>();
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
      const [oldest] = entries.keys();
      if (entries.size > limit && oldest !== undefined) entries.delete(oldest);
      return call;
    },
    find: (toolCallId) => (typeof toolCallId === "string" ? entries.get(toolCallId) : undefined),
  };
}

/** Whether it says of itself what it is: an id that was ours may be another call's by now. */
function namesSomething(toolCall: JsonRecord): boolean {
  const meta = recordAt(toolCall, "_meta");
  return (
    toolCall["sessionUpdate"] === "tool_call" ||
    typeof toolCall["name"] === "string" ||
    typeof meta?.["toolName"] === "string" ||
    typeof recordAt(meta, "claudeCode")?.["toolName"] === "string"
  );
}
