import type { Settings } from "../options.ts";
import type { Skillset } from "../skillset.ts";
import type { MessageStream } from "../wire/message-stream.ts";
import type { AgentTools } from "./agent-tools.ts";
import { amendValue } from "./amend.ts";
import { openConnection } from "./connection.ts";
import type { Verdict } from "./verdict.ts";

/**
 * Puts an interceptor between a stream to the editor and the agent that gets the returned stream. Pressure, closing and
 * errors pass through in both directions; when either direction ends, all sessions are released.
 */
export function interceptStream<Message>(
  stream: MessageStream<Message>,
  skillset: Skillset,
  settings: Settings,
  tools?: AgentTools,
): MessageStream<Message> {
  let toEditor: TransformStreamDefaultController<Message> | undefined;
  let toAgent: TransformStreamDefaultController<Message> | undefined;
  const outlets = {
    send: (message: unknown) => toEditor?.enqueue(message as Message),
    reply: (message: unknown) => toAgent?.enqueue(message as Message),
  };
  const connection = openConnection(skillset, settings, outlets, tools);

  const inbound = new TransformStream<Message, Message>({
    start(controller) {
      toAgent = controller;
    },
    async transform(message, controller) {
      pass(message, await connection.fromEditor(message), controller);
    },
  });
  const outbound = new TransformStream<Message, Message>({
    start(controller) {
      toEditor = controller;
    },
    transform(message, controller) {
      pass(message, connection.fromAgent(message), controller);
    },
  });

  // Errors reach the agent and the editor through the streams themselves.
  const release = (): void => {
    void connection.close();
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
