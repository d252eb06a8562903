import { isDeepStrictEqual } from "node:util";
import { LimitedMap } from "../../base/limited-map.ts";
import type { ToldCall } from "../service/skill-service.ts";

/** Running calls that the editor knows, until the request for each arrives at our MCP server. */
export interface ClaimedCalls {
  told(call: ToldCall): void;
  /** The id of the call that a request to our server belongs to: the oldest with this input. Each is returned once. */
  claim(tool: string, input: unknown): string | undefined;
}

/** How many calls of a session are remembered. */
const limit = 64;

export function openClaimedCalls(): ClaimedCalls {
  const waiting = new LimitedMap<string, ToldCall>(limit);
  const claimed = new Set<string>();
  return {
    told(call) {
      const { toolCallId, isOver } = call;
      if (isOver) {
        waiting.delete(toolCallId);
        claimed.delete(toolCallId);
      } else if (!claimed.has(toolCallId)) waiting.set(toolCallId, call);
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
