import type { Settings } from "../../runtime/options.ts";
import type { MessageStream } from "../../wire/methods.ts";
import { amendValue, untouched, type Verdict } from "../messages/amend.ts";
import type { Interceptor } from "./interceptor.ts";
import type { SkillService } from "../skill-service.ts";

type Controller<Message> = TransformStreamDefaultController<Message>;

/**
 * Puts an interceptor between a stream to the editor and the agent that gets the returned stream. Backpressure, closing and errors pass in
 * both directions. When either direction ends, all sessions are released and `released` is called once. The interceptor's code is loaded
 * by this call, so that importing the package stays cheap. Messages wait for it.
 */
export function interceptStream<Message>(
  stream: MessageStream<Message>,
  service: SkillService | Promise<SkillService>,
  settings: Settings,
  released: () => void = () => undefined,
): MessageStream<Message> {
  let toEditor: Controller<Message> | undefined;
  let toAgent: Controller<Message> | undefined;
  /** The messages of acp-skills that the editor's end has not taken, with their callbacks. */
  const unread = new Map<unknown, () => void>();
  let interceptor: Interceptor | undefined;
  let isReleased = false;
  const loading = load().catch((error: unknown) => {
    settings.log("error", `Internal error in acp-skills; messages are forwarded unchanged. ${String(error)}`);
    return undefined;
  });

  async function load(): Promise<Interceptor> {
    const [{ Interceptor }, opened] = await Promise.all([import("./interceptor.ts"), service]);
    const reply = (message: unknown): void => toAgent?.enqueue(message as Message);
    interceptor = new Interceptor({ service: opened, settings, send, reply });
    if (isReleased) interceptor.close();
    return interceptor;
  }

  function send(line: Uint8Array, written: () => void): void {
    const message = JSON.parse(Buffer.from(line).toString()) as Message;
    // The message is registered first, because a pending read receives the message immediately.
    unread.set(message, written);
    try {
      toEditor?.enqueue(message);
    } catch {
      // The editor's end is closed.
      unread.delete(message);
      written();
    }
  }

  async function judge(message: Message, from: "fromEditor" | "fromAgent"): Promise<Verdict> {
    const opened = interceptor ?? (await loading);
    return opened === undefined ? untouched : await opened[from](message);
  }

  const relay = (from: "fromEditor" | "fromAgent", start: (controller: Controller<Message>) => void) =>
    new TransformStream<Message, Message>({
      start,
      async transform(message, controller) {
        const verdict = await judge(message, from);
        if (!verdict.forward) return;
        const { amendments = [] } = verdict;
        controller.enqueue(amendments.length === 0 ? message : (amendValue(message, amendments) as Message));
      },
    });
  const inbound = relay("fromEditor", (controller) => void (toAgent = controller));
  const outbound = relay("fromAgent", (controller) => void (toEditor = controller));
  const gate = new TransformStream<Message, Message>({
    transform(message, controller) {
      controller.enqueue(message);
      unread.get(message)?.();
      unread.delete(message);
    },
  });

  // Errors reach the agent and the editor through the streams themselves.
  const release = (): void => {
    interceptor?.close();
    for (const written of unread.values()) written();
    unread.clear();
    if (isReleased) return;
    isReleased = true;
    released();
  };
  stream.readable.pipeTo(inbound.writable).then(release, release);
  outbound.readable.pipeThrough(gate).pipeTo(stream.writable).then(release, release);
  return { readable: inbound.readable, writable: outbound.writable };
}
