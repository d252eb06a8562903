import type { Problem } from "../skills/problem.ts";
import type { AvailableSkill } from "../wire/available-skill.ts";
import { availableCommandsUpdate, metaKey, notice, problemsNotification, sessionUpdate } from "../wire/methods.ts";
import type { Amendment } from "./amend.ts";
import type { MergedCommands } from "./command-list.ts";
import { isRecord, type JsonRecord, recordAt } from "./raw-message.ts";

/** Messages of ours to the editor. They are notifications, always: an id of ours can then never collide. */
export interface Notification {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params: JsonRecord;
}

/** The list of skills in the RFD's form, nested as every implementation expects it. */
export function skillsNotification(
  sessionId: string,
  kind: string,
  availableSkills: readonly AvailableSkill[],
): Notification {
  return notify(sessionUpdate, { sessionId, update: { sessionUpdate: kind, availableSkills } });
}

/** The list of commands, with the list of skills at both places where clients of different generations find it. */
export function commandsNotification(
  sessionId: string,
  availableCommands: readonly unknown[],
  availableSkills: readonly AvailableSkill[],
): Notification {
  const _meta = { [metaKey]: { availableSkills } };
  return notify(sessionUpdate, {
    sessionId,
    update: { sessionUpdate: availableCommandsUpdate, availableCommands, _meta },
    _meta,
  });
}

/** The same, done to an update of the agent's own. */
export function commandsAmendments(
  message: unknown,
  { annotated, added }: MergedCommands,
  availableSkills: readonly AvailableSkill[],
): Amendment[] {
  const params = recordAt(message, "params") ?? {};
  const update = recordAt(params, "update") ?? {};
  const commands = Array.isArray(update["availableCommands"]) ? (update["availableCommands"] as unknown[]) : [];
  const list = ["params", "update", "availableCommands"];
  const value = { availableSkills };
  return [
    ...[...annotated].flatMap(([place, fields]) =>
      Object.entries(fields).map(([field, value]) => ({ path: [...list, place, field], value })),
    ),
    ...(added.length === 0 ? [] : [{ path: list, at: commands.length, remove: 0, insert: added }]),
    metaAmendment(update, ["params", "update"], value),
    metaAmendment(params, ["params"], value),
  ];
}

function metaAmendment(holder: JsonRecord, path: readonly string[], value: unknown): Amendment {
  return isRecord(holder["_meta"])
    ? { path: [...path, "_meta", metaKey], value }
    : { path: [...path, "_meta"], value: { [metaKey]: value } };
}

/** What is wrong with the skills of a session; for clients that opted in only. */
export function problemsMessage(sessionId: string, problems: readonly Problem[]): Notification {
  return notify(problemsNotification, { sessionId, problems });
}

/** A sentence for the user. */
export function noticeMessage(sessionId: string, title: string, description: string): Notification {
  return notify(sessionUpdate, {
    sessionId,
    update: { sessionUpdate: notice, severity: "warning", title, description },
  });
}

function notify(method: string, params: JsonRecord): Notification {
  return { jsonrpc: "2.0", method, params };
}
