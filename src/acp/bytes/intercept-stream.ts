import type { Settings } from "../../options.ts";
import type { MessageStream } from "../../wire/message-stream.ts";
import { amendValue } from "./amend.ts";
import { openInterceptor } from "../interceptor.ts";
import type { SkillService } from "../service/skill-service.ts";
import type { Verdict } from "../verdict.ts";

/**
 * Puts an interceptor between a stream to the editor and the agent that gets the returned stream. Backpressure, closing and errors
 * pass in both directions; when either direction ends, all sessions are released and `released` is called, once.
 */
export function interceptStream<Message>(
  stream: MessageStream<Message>,
  service: SkillService,
  settings: Settings,
  released: () => void = () => undefined,
): MessageStream<Message> {
  let toEditor: TransformStreamDefaultController<Message> | undefined;
  let toAgent: TransformStreamDefaultController<Message> | undefined;
  /** Our messages that the editor's end has not taken, with their callbacks. */
  const unread = new Map<unknown, () => void>();
  const interceptor = openInterceptor({
    service,
    settings,
    send(line, written) {
      const message = JSON.parse(Buffer.from(line).toString()) as Message;
      // First, because a waiting reader takes it at once.
      unread.set(message, written);
      try {
        toEditor?.enqueue(message);
      } catch {
        // The editor's end is closed.
        unread.delete(message);
        written();
      }
    },
    reply: (message: unknown) => toAgent?.enqueue(message as Message),
  });

  const inbound = new TransformStream<Message, Message>({
    start(controller) {
      toAgent = controller;
    },
    async transform(message, controller) {
      pass(message, await interceptor.fromEditor(message), controller);
    },
  });
  const outbound = new TransformStream<Message, Message>({
    start(controller) {
      toEditor = controller;
    },
    async transform(message, controller) {
      pass(message, await interceptor.fromAgent(message), controller);
    },
  });
  const door = new TransformStream<Message, Message>({
    transform(message, controller) {
      controller.enqueue(message);
      unread.get(message)?.();
      unread.delete(message);
    },
  });

  // Errors reach the agent and the editor through the streams themselves.
  let isReleased = false;
  const release = (): void => {
    interceptor.close();
    for (const written of unread.values()) written();
    unread.clear();
    if (isReleased) return;
    isReleased = true;
    released();
  };
  stream.readable.pipeTo(inbound.writable).then(release, release);
  outbound.readable.pipeThrough(door).pipeTo(stream.writable).then(release, release);
  return { readable: inbound.readable, writable: outbound.writable };
}

function pass<Message>(
  message: Message,
  verdict: Verdict,
  controller: TransformStreamDefaultController<Message>,
): void {
  if (!verdict.forward) return;
  const { amendments = [] } = verdict;
  controller.enqueue(amendments.length === 0 ? message : (amendValue(message, amendments) as Message));
}
