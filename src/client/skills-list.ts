import { availableSkillsUpdate, extensionSkillsUpdate, skillsNotification } from "../wire/methods.ts";
import { type JsonObject, fieldsOf, isStrings } from "./json.ts";
import { addAvailableSkill } from "./forms/available-skill.ts";
import { Entries, type EntryContext } from "./forms/entries.ts";
import type { ParsedNotification, SkillForm } from "./forms/notification.ts";

/** Whether a kind of update is the RFD's, or its twin with the prefix that extensions have. */
export function isSkillsKind(kind: string): boolean {
  return kind === availableSkillsUpdate || kind === extensionSkillsUpdate;
}

/**
 * Reads a list of skills or a change of it: the RFD's update (Agent Skills List RFD, "Session Notification"), its twins, and our deltas.
 */
export function readSkillsList(
  params: UpdateParams,
  isNotification: boolean,
  source: EntryContext,
): ParsedNotification {
  const { sessionId, update, isFlat } = params;
  const { availableSkills, revision, added, changed, removed } = update;
  const form = formOf(params, isNotification);
  const entries = new Entries(source, sessionId);
  const root = isFlat ? "" : "/update";
  const isDelta = Array.isArray(added) && Array.isArray(changed) && isStrings(removed) && typeof revision === "number";
  if (isDelta) {
    addAll(entries, changed, `${root}/changed`, form);
    addAll(entries, added, `${root}/added`, form);
    return { kind: "delta", sessionId, revision, removed, skills: entries.skills, faults: entries.faults };
  }
  if (!Array.isArray(availableSkills)) {
    entries.report("INVALID_UPDATE", `${root}/availableSkills`, "is not a list");
    return { kind: "nothing", sessionId, faults: entries.faults };
  }
  addAll(entries, availableSkills, `${root}/availableSkills`, form);
  return {
    kind: "list",
    sessionId,
    revision: typeof revision === "number" ? revision : undefined,
    skills: entries.skills,
    faults: entries.faults,
  };
}

function addAll(entries: Entries, values: readonly unknown[], place: string, form: SkillForm): void {
  for (const [index, value] of values.entries()) {
    if (entries.isFull(index, place)) return;
    addAvailableSkill(entries, value, `${place}/${index}`, { form });
  }
}

function formOf({ kind, isFlat }: UpdateParams, isNotification: boolean): SkillForm {
  if (isNotification) return skillsNotification;
  if (kind === extensionSkillsUpdate) return extensionSkillsUpdate;
  return isFlat ? "flat_available_skills_update" : availableSkillsUpdate;
}

/** The parts of a session update by which its kind is known. */
export interface UpdateParams {
  readonly sessionId: string;
  readonly kind: string;
  readonly update: JsonObject;
  readonly meta: JsonObject | undefined;
  /** The update's fields lie beside `sessionId`, as in the RFD's sample, and not below `update`. */
  readonly isFlat: boolean;
}

/** Reads the params of `session/update`; undefined if they are not of one. */
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
