import type { AvailableSkill } from "../wire/available-skill.ts";
import { type MessageStream, problemsNotification, sessionUpdate, skillsNotification } from "../wire/methods.ts";
import { isSkillsKind, readUpdateParams } from "./skills-list.ts";
import { fieldsOf } from "./json.ts";
import { type SkillsUpdate, readSkillsDelta, readSkillsUpdate } from "./skills-update.ts";
import { tapStream } from "./tap-stream.ts";

/**
 * For editors: calls `listener` with the whole list of skills whenever a list or a change of it arrives on `stream`, and passes
 * everything on. Messages that only an editor with this function understands are taken off the stream, because typed SDK clients
 * refuse unknown kinds. Hand the returned stream to the SDK client. `listener` must not throw.
 */
export function observeSkills<Message>(
  stream: MessageStream<Message>,
  listener: (update: SkillsUpdate) => void,
): MessageStream<Message> {
  /** The last list of each session, by name. */
  const lists = new Map<string, ReadonlyMap<string, AvailableSkill>>();

  function read(params: unknown): void {
    const update = readSkillsUpdate(params);
    if (update !== undefined) {
      lists.set(update.sessionId, byName(update.skills));
      listener(update);
      return;
    }
    const delta = readSkillsDelta(params);
    if (delta === undefined) return;
    const { sessionId, added, changed, removed } = delta;
    const gone = new Set(removed);
    const unchanged = [...(lists.get(sessionId)?.values() ?? [])].filter(({ name }) => !gone.has(name));
    const list = byName([...unchanged, ...changed, ...added]);
    lists.set(sessionId, list);
    listener({ sessionId, skills: [...list.values()] });
  }

  return tapStream(stream, {
    received(message) {
      const { method, params } = fieldsOf(message) ?? {};
      if (method === sessionUpdate || method === skillsNotification) read(params);
      return method !== problemsNotification && isForUsOnly(message);
    },
  });
}

function byName(skills: readonly AvailableSkill[]): ReadonlyMap<string, AvailableSkill> {
  return new Map(skills.map((skill) => [skill.name, skill]));
}

/** Whether only this package understands a message: typed SDK clients refuse such updates. */
export function isForUsOnly(message: unknown): boolean {
  const { method, params } = fieldsOf(message) ?? {};
  if (method === skillsNotification || method === problemsNotification) return true;
  return method === sessionUpdate && isSkillsKind(readUpdateParams(params)?.kind ?? "");
}
