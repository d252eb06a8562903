import { Readable } from "node:stream";
import type { Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

/** Is never answered: it lasts as long as the connection. */
const endless = "subscriptions/listen";

/**
 * The library's transport over two streams, which closes at once when its input ends. This one first answers what was asked before, so
 * that a file of requests can be its input.
 */
export function openAnsweringTransport(
  input: Readable,
  output: Writable,
  { maxBufferSize }: { readonly maxBufferSize: number },
): { readonly transport: Transport; readonly held: Readable } {
  const unanswered = new Set<unknown>();
  let whenAnswered = (): void => undefined;

  async function* holdOpen(): AsyncGenerator {
    yield* input;
    // What was read last is on its way to the transport still.
    await setImmediate();
    if (unanswered.size > 0) await new Promise<void>((resolve) => (whenAnswered = resolve));
  }

  function note(message: JSONRPCMessage): void {
    if (!("method" in message)) return;
    if ("id" in message && message.method !== endless) unanswered.add(message.id);
    // Whoever gives a request up is not answered.
    if (message.method === "notifications/cancelled") settle(message.params?.["requestId"]);
  }

  function settle(id: unknown): void {
    if (unanswered.delete(id) && unanswered.size === 0) whenAnswered();
  }

  const held = Readable.from(holdOpen());
  // The transport tells of it, as long as it is open.
  held.on("error", () => undefined);
  const inner = new StdioServerTransport(held, output, { maxBufferSize });
  const transport: Transport = {
    async start() {
      inner.onmessage = (message) => {
        note(message);
        transport.onmessage?.(message);
      };
      inner.onclose = () => transport.onclose?.();
      inner.onerror = (error) => transport.onerror?.(error);
      await inner.start();
    },
    async send(message) {
      try {
        await inner.send(message);
      } finally {
        if (!("method" in message) && "id" in message) settle(message.id);
      }
    },
    close: () => inner.close(),
  };
  return { transport, held };
}
