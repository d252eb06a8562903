import type { AvailableSkill } from "../wire/available-skill.ts";
import { fromCommandFacts } from "../wire/command-facts.ts";
import { availableCommandsUpdate, metaKey } from "../wire/methods.ts";
import { isAvailableSkill } from "./skill-fault.ts";
import { type UpdateParams, isSkillsKind, readUpdateParams } from "./skills-list.ts";
import { fieldsOf, isStrings } from "./json.ts";

/** The whole list of skills of one session at one moment; it replaces the one before. */
export interface SkillsUpdate {
  readonly sessionId: string;
  readonly skills: readonly AvailableSkill[];
}

/** What changed in a session's skills since the update of the revision before; for clients that asked for deltas. */
export interface SkillsDelta {
  readonly sessionId: string;
  readonly revision: number;
  readonly added: readonly AvailableSkill[];
  readonly changed: readonly AvailableSkill[];
  /** Names. */
  readonly removed: readonly string[];
}

/**
 * Reads the skills from the params of a `session/update` or `_acp-skills/skills_update`, in any of their forms: the RFD's update, its
 * `_`-prefixed twin, or a command list. Undefined if they contain no whole list. Invalid skills are dropped.
 */
export function readSkillsUpdate(params: unknown): SkillsUpdate | undefined {
  const found = readParams(params);
  const list = found && listIn(found);
  return found && list && { sessionId: found.sessionId, skills: list.filter(isAvailableSkill) };
}

/** Reads a change from the same params; undefined if they contain none. */
export function readSkillsDelta(params: unknown): SkillsDelta | undefined {
  const found = readParams(params);
  if (found === undefined || !isSkillsKind(found.kind)) return undefined;
  const { revision, added, changed, removed } = found.update;
  if (typeof revision !== "number" || !Array.isArray(added) || !Array.isArray(changed) || !isStrings(removed))
    return undefined;
  const { sessionId } = found;
  return {
    sessionId,
    revision,
    added: added.filter(isAvailableSkill),
    changed: changed.filter(isAvailableSkill),
    removed,
  };
}

/** The flat form is read by the store only: no agent is known to send it. */
function readParams(params: unknown): UpdateParams | undefined {
  const found = readUpdateParams(params);
  return found?.isFlat === true ? undefined : found;
}

function listIn({ kind, update, meta }: UpdateParams): readonly unknown[] | undefined {
  if (isSkillsKind(kind)) return arrayIn(update["availableSkills"]);
  const isMarked = typeof fieldsOf(meta?.[metaKey])?.["skills"] === "number";
  return kind === availableCommandsUpdate && isMarked
    ? arrayIn(update["availableCommands"])?.flatMap(toSkill)
    : undefined;
}

function arrayIn(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

function toSkill(command: unknown): readonly unknown[] {
  const { name, description, _meta } = fieldsOf(command) ?? {};
  const facts = fieldsOf(fieldsOf(_meta)?.[metaKey]);
  return typeof name === "string" && typeof description === "string" && typeof facts?.["source"] === "string"
    ? [fromCommandFacts({ name, description }, facts)]
    : [];
}
