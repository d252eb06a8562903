import { metaKey } from "../wire/methods.ts";
import { fieldsOf, isStrings } from "./json.ts";

/** What an agent with acp-skills advertises: our version, the tools it serves, the kinds of update it will send. */
export interface SkillsAdvertisement {
  readonly version: string;
  readonly tools: string[];
  readonly update: string[];
  readonly [other: string]: unknown;
}

/** Reads the advertisement from an initialize response of ACP v1 or v2; undefined if there is none. */
export function readAdvertisement(initializeResponse: unknown): SkillsAdvertisement | undefined {
  const response = fieldsOf(initializeResponse);
  const capabilities = fieldsOf(response?.["agentCapabilities"] ?? response?.["capabilities"]);
  const ours = fieldsOf(fieldsOf(capabilities?.["_meta"])?.[metaKey]);
  if (ours === undefined) return undefined;
  const { version, tools, update } = ours;
  return typeof version === "string" && isStrings(tools) && isStrings(update)
    ? { ...ours, version, tools, update }
    : undefined;
}
