import type { AvailableSkill } from "../wire/available-skill.ts";
import { availableCommandsUpdate, metaKey, sessionUpdate } from "../wire/methods.ts";
import type { Amendment, Path } from "./messages/amend.ts";
import type { SkillsForm } from "./negotiation.ts";
import { isRecord, type JsonRecord, recordAt } from "./messages/raw-message.ts";
import type { ListAmendments } from "./skill-service.ts";

/** A message of acp-skills to the editor. It is always a notification, so that no id can collide with those of the agent. */
export interface Notification {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params: JsonRecord;
}

/**
 * Returns a function to call when there is something new to send. It calls `send` once the editor has read the previous message; calls in
 * the meantime are combined.
 */
export function sendWhenRead(send: (written: () => void) => void): () => void {
  let isUnread = false;
  let isBehind = false;
  return function next(): void {
    isBehind = isUnread;
    if (isUnread) return;
    isUnread = true;
    send(() => {
      isUnread = false;
      if (isBehind) next();
    });
  };
}

/** Makes the notification with the list of skills as in the RFD, nested as every implementation expects it. */
export function skillsMessage(
  sessionId: string,
  { method, kind, deltas }: SkillsForm,
  revision: number,
  availableSkills: readonly AvailableSkill[],
): Notification {
  const update = { sessionUpdate: kind, ...(deltas && { revision }), availableSkills };
  return notify(method, { sessionId, update });
}

/** Makes the notification with the changes to the list of skills since the previous revision. `removed` has names. */
export function skillsDelta(
  sessionId: string,
  { method, kind }: SkillsForm,
  revision: number,
  { before, after }: { readonly before: readonly AvailableSkill[]; readonly after: readonly AvailableSkill[] },
): Notification {
  const known = new Map(before.map((skill) => [skill.name, skill]));
  const names = new Set(after.map(({ name }) => name));
  const added = after.filter(({ name }) => !known.has(name));
  const changed = after.filter((skill) => {
    const old = known.get(skill.name);
    return old !== undefined && old !== skill && JSON.stringify(old) !== JSON.stringify(skill);
  });
  const removed = before.filter(({ name }) => !names.has(name)).map(({ name }) => name);
  return notify(method, { sessionId, update: { sessionUpdate: kind, revision, added, changed, removed } });
}

/**
 * Makes the notification with the list of commands. Each command of a skill has the skill's data in `_meta`. The `_meta` of the params has
 * only the number of skills, where clients of every version find it. Clients that declare nothing about skills get no number.
 */
export function commandsNotification(
  sessionId: string,
  availableCommands: readonly unknown[],
  skills: number | undefined,
): Notification {
  return notify(sessionUpdate, {
    sessionId,
    update: { sessionUpdate: availableCommandsUpdate, availableCommands },
    ...(skills !== undefined && { _meta: { [metaKey]: { skills } } }),
  });
}

/** Converts the list of commands to amendments of the agent's own update. */
export function commandsAmendments(message: unknown, { annotated, added, skills, whole }: ListAmendments): Amendment[] {
  const params = recordAt(message, "params") ?? {};
  const update = recordAt(params, "update") ?? {};
  const commands = Array.isArray(update["availableCommands"]) ? (update["availableCommands"] as unknown[]) : [];
  const list = ["params", "update", "availableCommands"];
  const changes = [
    ...annotated.flatMap(([index, fields]) => fieldAmendments(commands[index], [...list, index], fields)),
    ...(added.length === 0 ? [] : [{ path: list, at: commands.length, remove: 0, insert: { json: added } }]),
  ];
  const lists = whole === undefined ? changes : [{ path: list, value: whole }];
  if (skills === undefined) return lists;
  return [
    ...lists,
    isRecord(params["_meta"])
      ? { path: ["params", "_meta", metaKey], value: { skills } }
      : { path: ["params", "_meta"], value: { [metaKey]: { skills } } },
  ];
}

/** Sets single fields, in `_meta` too, so that the bytes of the other fields stay as they are. */
function fieldAmendments(command: unknown, path: Path, fields: JsonRecord): Amendment[] {
  return Object.entries(fields).flatMap(([field, value]) =>
    field === "_meta" && isRecord(value) && recordAt(command, "_meta") !== undefined
      ? Object.entries(value).map(([key, item]) => ({ path: [...path, field, key], value: item }))
      : [{ path: [...path, field], value }],
  );
}

function notify(method: string, params: JsonRecord): Notification {
  return { jsonrpc: "2.0", method, params };
}

const encoded = new WeakMap<object, Buffer>();
const comma = Buffer.from(",");

/**
 * Encodes a message as one line of JSON. The items of its lists are encoded once and cached: if 1 of 1,000 skills has changed, only that
 * one is encoded again. Items must not be mutated afterwards.
 */
export function encodeMessage(message: object): Buffer {
  const pieces: Buffer[] = [];
  addValue(message, pieces);
  pieces.push(Buffer.from("\n"));
  return Buffer.concat(pieces);
}

/** Encodes items of a list as JSON, separated by commas. */
export function encodeItems(items: readonly unknown[]): Uint8Array {
  return Buffer.concat(items.flatMap((item, index) => (index === 0 ? [encodeItem(item)] : [comma, encodeItem(item)])));
}

function addValue(value: unknown, pieces: Buffer[]): void {
  if (Array.isArray(value)) {
    pieces.push(Buffer.from("["));
    for (const [index, item] of (value as unknown[]).entries()) {
      if (index > 0) pieces.push(comma);
      pieces.push(encodeItem(item));
    }
    pieces.push(Buffer.from("]"));
  } else if (typeof value === "object" && value !== null) {
    let opening = "{";
    for (const [key, field] of Object.entries(value)) {
      if (field === undefined) continue;
      pieces.push(Buffer.from(`${opening}${JSON.stringify(key)}:`));
      opening = ",";
      addValue(field, pieces);
    }
    pieces.push(Buffer.from(opening === "{" ? "{}" : "}"));
  } else {
    pieces.push(Buffer.from(JSON.stringify(value)));
  }
}

function encodeItem(item: unknown): Buffer {
  if (typeof item !== "object" || item === null) return Buffer.from(JSON.stringify(item ?? null));
  const known = encoded.get(item);
  if (known !== undefined) return known;
  const bytes = Buffer.from(JSON.stringify(item));
  encoded.set(item, bytes);
  return bytes;
}
