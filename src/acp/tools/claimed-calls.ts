import { isDeepStrictEqual } from "node:util";
import type { ToldCall } from "../service/skill-service.ts";

/** The calls under way of which an editor was told, until our server is asked what each of them asks. */
export interface ClaimedCalls {
  told(call: ToldCall): void;
  /** The id of the call that a request to our server belongs to: the oldest that has this input. Each is found once. */
  claim(tool: string, input: unknown): string | undefined;
}

/** So many calls of a session are remembered. */
const limit = 64;

export function openClaimedCalls(): ClaimedCalls {
  const waiting = new Map<string, ToldCall>();
  const claimed = new Set<string>();
  return {
    told(call) {
      const { toolCallId, isOver } = call;
      if (isOver) {
        waiting.delete(toolCallId);
        claimed.delete(toolCallId);
      } else if (!claimed.has(toolCallId)) waiting.set(toolCallId, call);
      const [oldest] = waiting.keys();
      if (waiting.size > limit && oldest !== undefined) waiting.delete(oldest);
    },
    claim(tool, input) {
      for (const [id, call] of waiting) {
        if (call.tool !== tool) continue;
        if (call.input !== undefined && !isDeepStrictEqual(call.input, input ?? {})) continue;
        waiting.delete(id);
        claimed.add(id);
        return id;
      }
      return undefined;
    },
  };
}
