import type { Settings } from "../options.ts";
import type { Skillset } from "../skillset.ts";
import type { MessageStream } from "../wire/message-stream.ts";
import { amendValue } from "./amend.ts";
import { openInterceptor, type Verdict } from "./interceptor.ts";
import { readInstructions } from "./read-instructions.ts";

/**
 * Puts an interceptor between a stream to the editor and the agent that gets the returned stream. Pressure, closing and
 * errors pass through in both directions; when either direction ends, all sessions are released.
 */
export function interceptStream<Message>(
  stream: MessageStream<Message>,
  skillset: Skillset,
  settings: Settings,
): MessageStream<Message> {
  let toEditor: TransformStreamDefaultController<Message> | undefined;
  const interceptor = openInterceptor({
    skillset,
    settings,
    readInstructions,
    startedAt: Date.now(),
    send(message) {
      toEditor?.enqueue(message as Message);
    },
  });

  const inbound = new TransformStream<Message, Message>({
    async transform(message, controller) {
      pass(message, await interceptor.fromEditor(message), controller);
    },
  });
  const outbound = new TransformStream<Message, Message>({
    start(controller) {
      toEditor = controller;
    },
    transform(message, controller) {
      pass(message, interceptor.fromAgent(message), controller);
    },
  });

  // Errors reach the agent and the editor through the streams themselves.
  const release = (): void => {
    interceptor.close();
  };
  stream.readable.pipeTo(inbound.writable).then(release, release);
  outbound.readable.pipeTo(stream.writable).then(release, release);
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
