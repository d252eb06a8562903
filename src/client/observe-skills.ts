import type { MessageStream } from "../wire/message-stream.ts";
import { availableSkillsUpdate, extensionSkillsUpdate, sessionUpdate } from "../wire/methods.ts";
import { readSkillsUpdate, type SkillsUpdate } from "./skills-update.ts";

/**
 * For editors: calls `listener` with each list of skills that arrives on `stream`, and passes everything on. Updates that
 * only an editor with this function understands are taken off the stream, because typed SDK clients refuse unknown kinds.
 * Hand the returned stream to the SDK client. `listener` must not throw.
 */
export function observeSkills<Message>(
  stream: MessageStream<Message>,
  listener: (update: SkillsUpdate) => void,
): MessageStream<Message> {
  const tap = new TransformStream<Message, Message>({
    transform(message, controller) {
      const params = sessionUpdateParams(message);
      const update = params === undefined ? undefined : readSkillsUpdate(params);
      if (update !== undefined) listener(update);
      if (!isSkillsOnly(params)) controller.enqueue(message);
    },
  });
  return { readable: stream.readable.pipeThrough(tap), writable: stream.writable };
}

function sessionUpdateParams(message: unknown): unknown {
  if (typeof message !== "object" || message === null) return undefined;
  const { method, params } = message as { method?: unknown; params?: unknown };
  return method === sessionUpdate ? params : undefined;
}

function isSkillsOnly(params: unknown): boolean {
  const kind = (params as { update?: { sessionUpdate?: unknown } } | undefined)?.update?.sessionUpdate;
  return kind === availableSkillsUpdate || kind === extensionSkillsUpdate;
}
