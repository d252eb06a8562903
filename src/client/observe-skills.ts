import type { AvailableSkill } from "../wire/available-skill.ts";
import {
  availableSkillsUpdate,
  extensionSkillsUpdate,
  type MessageStream,
  sessionUpdate,
  skillsNotification,
} from "../wire/methods.ts";
import { readSkillsDelta, readSkillsUpdate, type SkillsUpdate } from "./skills-update.ts";

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
    const kept = [...(lists.get(sessionId)?.values() ?? [])].filter(({ name }) => !gone.has(name));
    const list = byName([...kept, ...changed, ...added]);
    lists.set(sessionId, list);
    listener({ sessionId, skills: [...list.values()] });
  }

  const tap = new TransformStream<Message, Message>({
    transform(message, controller) {
      const { method, params } = methodOf(message);
      if (method === sessionUpdate || method === skillsNotification) read(params);
      if (method !== skillsNotification && !(method === sessionUpdate && isSkillsOnly(params)))
        controller.enqueue(message);
    },
  });
  return { readable: stream.readable.pipeThrough(tap), writable: stream.writable };
}

function byName(skills: readonly AvailableSkill[]): ReadonlyMap<string, AvailableSkill> {
  return new Map(skills.map((skill) => [skill.name, skill]));
}

function methodOf(message: unknown): { readonly method?: unknown; readonly params?: unknown } {
  return typeof message === "object" && message !== null ? message : {};
}

function isSkillsOnly(params: unknown): boolean {
  const kind = (params as { update?: { sessionUpdate?: unknown } } | undefined)?.update?.sessionUpdate;
  return kind === availableSkillsUpdate || kind === extensionSkillsUpdate;
}
