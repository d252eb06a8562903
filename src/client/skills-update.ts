import type { AvailableSkill } from "../wire/available-skill.ts";
import { fromCommandFacts } from "../wire/command-facts.ts";
import {
  availableCommandsUpdate,
  metaKey,
  availableSkillsUpdate,
  extensionSkillsUpdate,
  skillsNotification,
} from "../wire/methods.ts";
import { isAvailableSkill } from "./skill-fault.ts";
import { fieldsAt, fieldsOf, isStrings, type JsonObject } from "./json.ts";
import { Entries, type EntryContext } from "./forms/entries.ts";
import type { ParsedNotification, SkillForm } from "./forms/notification.ts";

/** The whole list of skills of one session at one moment, which replaces the previous list. */
export interface SkillsUpdate {
  readonly sessionId: string;
  readonly skills: readonly AvailableSkill[];
}

/** The changes in a session's skills since the update of the previous revision; for clients that asked for deltas. */
export interface SkillsDelta {
  readonly sessionId: string;
  readonly revision: number;
  readonly added: readonly AvailableSkill[];
  readonly changed: readonly AvailableSkill[];
  /** The names of the removed skills. */
  readonly removed: readonly string[];
}

/**
 * Reads the skills from the params of a `session/update` or `_acp-skills/skills_update`: the RFD's update, its `_`-prefixed twin, or a
 * command list. Undefined if they contain no whole list. Invalid skills are dropped.
 */
export function readSkillsUpdate(params: unknown): SkillsUpdate | undefined {
  const found = readParams(params);
  const list = found && listIn(found);
  return found && list && { sessionId: found.sessionId, skills: list.filter(isAvailableSkill) };
}

/** Reads a change from the params of such an update; undefined if they contain none. */
export function readSkillsDelta(params: unknown): SkillsDelta | undefined {
  const found = readParams(params);
  const delta = found && isSkillsKind(found.kind) ? deltaIn(found.update) : undefined;
  if (found === undefined || delta === undefined) return undefined;
  const [added, changed] = [delta.added.filter(isAvailableSkill), delta.changed.filter(isAvailableSkill)];
  return { sessionId: found.sessionId, ...delta, added, changed };
}

function deltaIn({ revision, added, changed, removed }: JsonObject) {
  return typeof revision === "number" && Array.isArray(added) && Array.isArray(changed) && isStrings(removed)
    ? { revision, added: added as unknown[], changed: changed as unknown[], removed }
    : undefined;
}

/** Reads the params of an update that is not flat. Only the store reads the flat form, which no agent is known to send. */
function readParams(params: unknown): UpdateParams | undefined {
  const found = readUpdateParams(params);
  return found?.isFlat === true ? undefined : found;
}

function listIn({ kind, update, meta }: UpdateParams): readonly unknown[] | undefined {
  if (isSkillsKind(kind)) return arrayIn(update["availableSkills"]);
  const isMarked = typeof fieldsAt(meta, metaKey)?.["skills"] === "number";
  return kind === availableCommandsUpdate && isMarked
    ? arrayIn(update["availableCommands"])?.flatMap(toSkill)
    : undefined;
}

function arrayIn(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

function toSkill(command: unknown): readonly unknown[] {
  const { name, description, _meta } = fieldsOf(command) ?? {};
  const facts = fieldsAt(_meta, metaKey);
  return typeof name === "string" && typeof description === "string" && typeof facts?.["source"] === "string"
    ? [fromCommandFacts({ name, description }, facts)]
    : [];
}

/** Whether a kind of update is the RFD's, or its twin with the prefix of extensions. */
export function isSkillsKind(kind: string): boolean {
  return kind === availableSkillsUpdate || kind === extensionSkillsUpdate;
}

/**
 * Reads a list of skills or a change of it: the RFD's update (Agent Skills List RFD, "Session Notification"), its twins, and the deltas of
 * acp-skills.
 */
export function readSkillsList(
  params: UpdateParams,
  isNotification: boolean,
  source: EntryContext,
): ParsedNotification {
  const { sessionId, update, isFlat } = params;
  const { availableSkills, revision } = update;
  const form = formOf(params, isNotification);
  const entries = new Entries(source, sessionId);
  const addAll = (field: string, values: readonly unknown[]): void => {
    const pointer = `${isFlat ? "" : "/update"}/${field}`;
    for (const [index, value] of values.entries()) {
      if (entries.isFull(index, pointer)) return;
      entries.addAvailable(value, `${pointer}/${index}`, { form });
    }
  };
  const delta = deltaIn(update);
  if (delta !== undefined) {
    addAll("changed", delta.changed);
    addAll("added", delta.added);
    const { skills, faults } = entries;
    return { kind: "delta", sessionId, revision: delta.revision, removed: delta.removed, skills, faults };
  }
  if (!Array.isArray(availableSkills)) {
    entries.report("INVALID_UPDATE", `${isFlat ? "" : "/update"}/availableSkills`, "is not a list");
    return { kind: "nothing", sessionId, faults: entries.faults };
  }
  addAll("availableSkills", availableSkills);
  const { skills, faults } = entries;
  return { kind: "list", sessionId, revision: typeof revision === "number" ? revision : undefined, skills, faults };
}

function formOf({ kind, isFlat }: UpdateParams, isNotification: boolean): SkillForm {
  if (isNotification) return skillsNotification;
  if (kind === extensionSkillsUpdate) return extensionSkillsUpdate;
  return isFlat ? "flat_available_skills_update" : availableSkillsUpdate;
}

/** The fields of a session update by which its kind is known. */
export interface UpdateParams {
  readonly sessionId: string;
  readonly kind: string;
  readonly update: JsonObject;
  readonly meta: JsonObject | undefined;
  /** Whether the update's fields are beside `sessionId`, as in the RFD's sample, instead of below `update`. */
  readonly isFlat: boolean;
}

/** Reads the params of `session/update`; undefined if they are of another method. */
export function readUpdateParams(params: unknown): UpdateParams | undefined {
  const fields = fieldsOf(params);
  const { sessionId, update: given, _meta } = fields ?? {};
  const isFlat = given === undefined;
  const update = isFlat ? fields : fieldsOf(given);
  const kind = update?.["sessionUpdate"];
  return typeof sessionId === "string" && sessionId.length <= maxSessionId && update && typeof kind === "string"
    ? { sessionId, kind, update, meta: fieldsOf(_meta), isFlat }
    : undefined;
}

const maxSessionId = 1024;
