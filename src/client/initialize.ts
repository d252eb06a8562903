import { metaKey } from "../wire/methods.ts";
import { fieldsAt, isStrings } from "./json.ts";

/** The options of an editor that requests skills. */
export interface SkillsOptIn {
  /** Whether skills come as notification `_acp-skills/skills_update`; else as a `session/update`, which typed v1 SDKs reject. */
  readonly notification?: boolean;
  /** Whether updates after the first list have only the changes: `{revision, added, changed, removed}`. */
  readonly deltas?: boolean;
  /** Whether skills are listed as commands, too; in ACP v2 as `skill` entries, if the editor declares these. */
  readonly commands?: boolean;
}

/** The fields of the client's capabilities that ask for skills; merge `_meta` and `session` with your own. */
export interface OptInCapabilities {
  readonly _meta: { readonly [metaKey]: SkillsOptIn };
  /** The field in which the maintainers of ACP nest capabilities of sessions. */
  readonly session: {
    readonly skills: SkillsOptIn;
    /** ACP v2: skills as `skill` entries of the list of commands, from agents that do not know `skills`. */
    readonly commands: { readonly skill: object };
  };
}

/**
 * Returns the fields for `clientCapabilities` (ACP v1) or `capabilities` (v2) that request skills as `_acp-skills/skills_update`. Every
 * SDK delivers this extension notification, which has the params of `available_skills_update`. By default, updates after the first list
 * have only the changes, and skills are not listed as commands. The fields show other agents of v2 that `skill` entries are understood
 * (RFD "Agent Skills").
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

/** The advertisement of an agent with acp-skills: the version of acp-skills, the tools it serves, the kinds of update it will send. */
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
