import { metaKey } from "../wire/methods.ts";
import { fieldsAt, isStrings } from "./json.ts";

/** How an editor requests skills. */
export interface SkillsOptIn {
  /** True: as the extension notification `_acp-skills/skills_update`; else as a `session/update`, which typed v1 SDKs reject. */
  readonly notification?: boolean;
  /** True: after the first list, only `{revision, added, changed, removed}`. */
  readonly deltas?: boolean;
  /** True: skills are listed as commands, too; as `skill` entries in ACP v2, if the editor declares these. */
  readonly commands?: boolean;
}

/** The fields of the client's capabilities that ask for skills; merge `_meta` and `session` with your own. */
export interface OptInCapabilities {
  readonly _meta: { readonly [metaKey]: SkillsOptIn };
  /** Where the maintainers of ACP nest capabilities of sessions. */
  readonly session: {
    readonly skills: SkillsOptIn;
    /** ACP v2: skills as `skill` entries of the list of commands, from agents that do not know `skills`. */
    readonly commands: { readonly skill: object };
  };
}

/**
 * What an editor puts into `clientCapabilities` (ACP v1) or `capabilities` (v2) to receive skills as `_acp-skills/skills_update`, an
 * extension notification that every SDK delivers, with the params of `available_skills_update`: after the first list only what changed, and
 * not as commands, too. To other agents of v2 it says that `skill` entries are understood (RFD "Agent Skills").
 */
export function optIn(options: SkillsOptIn = {}): OptInCapabilities {
  const asked: SkillsOptIn = { notification: true, deltas: true, commands: false, ...options };
  return { _meta: { [metaKey]: asked }, session: { skills: asked, commands: { skill: {} } } };
}

/** Whether the parameters of `initialize` ask for skills. */
export function isOptIn(params: unknown): boolean {
  const capabilities = fieldsAt(params, "clientCapabilities") ?? fieldsAt(params, "capabilities");
  return (fieldsAt(capabilities, "_meta", metaKey) ?? fieldsAt(capabilities, "session")?.["skills"]) !== undefined;
}

/** What an agent with acp-skills advertises: our version, the tools it serves, the kinds of update it will send. */
export interface SkillsAdvertisement {
  readonly version: string;
  readonly tools: string[];
  readonly update: string[];
  readonly [other: string]: unknown;
}

/** Reads the advertisement from an initialize response of ACP v1 or v2; undefined if there is none. */
export function readAdvertisement(initializeResponse: unknown): SkillsAdvertisement | undefined {
  const capabilities =
    fieldsAt(initializeResponse, "agentCapabilities") ?? fieldsAt(initializeResponse, "capabilities");
  const ours = fieldsAt(capabilities, "_meta", metaKey);
  if (ours === undefined) return undefined;
  const isValid = typeof ours["version"] === "string" && isStrings(ours["tools"]) && isStrings(ours["update"]);
  return isValid ? (ours as SkillsAdvertisement) : undefined;
}

/** Whether an agent takes `skill` blocks in prompts, by its response to initialize in ACP v2. */
export function takesSkillBlocks(response: unknown): boolean {
  return fieldsAt(response, "capabilities", "session", "prompt", "skill") !== undefined;
}
