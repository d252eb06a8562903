import type { MessageStream } from "../wire/methods.ts";

/** Who listens to a stream. No function may throw. */
export interface Tap {
  /** A message of the agent; true keeps it from the editor. */
  readonly received: (message: unknown) => boolean;
  /** A message of the editor. */
  readonly sent?: (message: unknown) => void;
  /** The agent sends nothing more. */
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
