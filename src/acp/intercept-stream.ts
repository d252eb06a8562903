import type { Settings } from "../options.ts";
import type { Skillset } from "../skillset.ts";
import { openAgentTools } from "./agent-tools.ts";
import { amendValue } from "./amend.ts";
import { openInterceptor, type Verdict } from "./interceptor.ts";
import { readInstructions } from "./read-instructions.ts";

/** The stream of an ACP connection, of any SDK generation. */
export interface MessageStream<Message> {
  readonly readable: ReadableStream<Message>;
  readonly writable: WritableStream<Message>;
}

/**
 * Puts an interceptor between a stream to the editor and the agent that gets the returned stream. Pressure, closing and
 * errors pass through in both directions; when either direction ends, all sessions are released.
 */
export function interceptStream<Message>(
  stream: MessageStream<Message>,
  skillset: Skillset,
  settings: Settings,
  tools = settings.tools === "none" ? undefined : openAgentTools(settings),
): MessageStream<Message> {
  let toEditor: TransformStreamDefaultController<Message> | undefined;
  let toAgent: TransformStreamDefaultController<Message> | undefined;
  const interceptor = openInterceptor({
    skillset,
    settings,
    tools,
    readInstructions,
    startedAt: Date.now(),
    send(message) {
      toEditor?.enqueue(message as Message);
    },
    reply(message) {
      toAgent?.enqueue(message as Message);
    },
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
    transform(message, controller) {
      pass(message, interceptor.fromAgent(message), controller);
    },
  });

  // Errors reach the agent and the editor through the streams themselves.
  const release = (): void => {
    interceptor.close();
    void tools?.close();
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
