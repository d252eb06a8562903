import { sessionUpdate, toolCall as toolCallKind } from "../../wire/methods.ts";
import type { Amendment, Path } from "../bytes/amend.ts";
import { describeCall } from "./describe-call.ts";
import type { Notification } from "../announce/emission.ts";
import { isRecord, type JsonRecord } from "../bytes/raw-message.ts";
import type { OwnCall } from "./recognise-call.ts";
import { servedTools } from "../../tools/tool-names.ts";

/** Amends a call of one of our tools so that the editor shows what it does instead of the tool's name. */
export function describeToPerson(toolCall: JsonRecord, path: Path, call: OwnCall): Amendment[] {
  const { title, kind } = describeCall(call.tool, call.input);
  return Object.entries({ title, kind }).flatMap(([key, value]) => {
    // An update of only the status is unchanged.
    const isDue = toolCall[key] !== undefined || tellsWhat(toolCall);
    return isDue && toolCall[key] !== value ? [{ path: [...path, key], value }] : [];
  });
}

/** A permission request with only an id gets a title too. */
function tellsWhat({ sessionUpdate, rawInput }: JsonRecord): boolean {
  return sessionUpdate !== "tool_call_update" || (isRecord(rawInput) && Object.keys(rawInput).length > 0);
}

/**
 * Removes "always allow" from a permission request for a tool that runs code: it would allow every skill, not only this one.
 */
export function withoutAlways(params: JsonRecord, { tool }: OwnCall): Amendment[] {
  const { options } = params;
  if (servedTools.get(tool)?.executes !== true || !Array.isArray(options)) return [];
  const kept = (options as unknown[]).filter((option) => !(isRecord(option) && option["kind"] === "allow_always"));
  return kept.length === options.length ? [] : [{ path: ["params", "options"], value: kept }];
}

/** Reports a call that the editor would first have seen in a permission request that we answered. */
export function callAsked(sessionId: unknown, toolCall: JsonRecord, call: OwnCall): Notification {
  const update = { ...toolCall, ...describeCall(call.tool, call.input), sessionUpdate: toolCallKind };
  return { jsonrpc: "2.0", method: sessionUpdate, params: { sessionId, update } };
}
