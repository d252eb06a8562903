import type { AvailableSkill } from "../wire/available-skill.ts";
import { type MessageStream, problemsNotification, sessionUpdate, skillsNotification } from "../wire/methods.ts";
import {
  isSkillsKind,
  readUpdateParams,
  type SkillsUpdate,
  readSkillsDelta,
  readSkillsUpdate,
} from "./skills-update.ts";
import { byName, fieldsOf } from "./json.ts";

/**
 * Calls `listener` with the whole list of skills whenever a list or a change of it arrives on an editor's `stream`, and passes everything
 * on. Messages that only an editor with this function understands are removed, because typed SDK clients refuse unknown kinds. Hand the
 * returned stream to the SDK client. `listener` must not throw.
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

/** Whether only this package understands a message: typed SDK clients refuse such updates. */
export function isForUsOnly(message: unknown): boolean {
  const { method, params } = fieldsOf(message) ?? {};
  if (method === skillsNotification || method === problemsNotification) return true;
  return method === sessionUpdate && isSkillsKind(readUpdateParams(params)?.kind ?? "");
}

/** The listeners of a stream. None may throw. */
interface Tap {
  /** Receives a message of the agent; true withholds it from the editor. */
  readonly received: (message: unknown) => boolean;
  /** Receives a message of the editor. */
  readonly sent?: (message: unknown) => void;
  /** Called when the agent sends nothing more. */
  readonly ended?: () => void;
}

/** Listens to both directions of a stream and passes everything else on, in order. */
export function tapStream<Message>(stream: MessageStream<Message>, tap: Tap): MessageStream<Message> {
  const reader = stream.readable.getReader();
  const writer = stream.writable.getWriter();
  return {
    readable: new ReadableStream<Message>(
      {
        async pull(controller) {
          try {
            let next = await reader.read();
            while (!next.done && tap.received(next.value)) next = await reader.read();
            if (!next.done) {
              controller.enqueue(next.value);
              return;
            }
            tap.ended?.();
            controller.close();
          } catch (error) {
            tap.ended?.();
            throw error;
          }
        },
        async cancel(reason) {
          tap.ended?.();
          await reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    ),
    writable: new WritableStream<Message>({
      async write(message) {
        tap.sent?.(message);
        await writer.write(message);
      },
      close: () => writer.close(),
      abort: (reason) => writer.abort(reason),
    }),
  };
}
