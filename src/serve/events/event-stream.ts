/** A stream of events to one client. */
export interface EventStream {
  readonly body: ReadableStream<Uint8Array>;
  /** Sends a comment, if the client has read everything, so that the connection is not taken for dead. */
  readonly beat: () => void;
  /** Idempotent. */
  readonly end: () => void;
}

/** Events that wait for a client to read; of more, the stream is ended, and the client can resume. */
const mostWaiting = 64;

/**
 * Sends `first`, then what `listen` tells. Nothing is kept for a client that does not read, beyond a limited number of events. `ended` is
 * called once, whoever ends the stream.
 */
export function openEventStream({
  first,
  listen,
  ended,
}: {
  readonly first: readonly string[];
  readonly listen: (listener: (text: string) => void) => () => void;
  readonly ended: () => void;
}): EventStream {
  const encoder = new TextEncoder();
  const waiting: string[] = [];
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isEnded = false;
  const stopListening = listen(send);

  function send(text: string): void {
    if (isEnded || controller === undefined) return;
    if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(text));
    else if (waiting.length < mostWaiting) waiting.push(text);
    else end();
  }

  function end(): void {
    if (finish()) controller?.close();
  }

  /** Whether it was open. */
  function finish(): boolean {
    if (isEnded) return false;
    isEnded = true;
    stopListening();
    ended();
    return true;
  }

  const body = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
        // As one piece, so that what a client has missed does not count as waiting.
        given.enqueue(encoder.encode(first.join("")));
      },
      pull(given) {
        if (waiting.length > 0) given.enqueue(encoder.encode(waiting.splice(0).join("")));
      },
      cancel() {
        finish();
      },
    },
    { highWaterMark: 1 },
  );
  return {
    body,
    end,
    beat() {
      if (!isEnded && (controller?.desiredSize ?? 0) > 0) controller?.enqueue(encoder.encode(": \n\n"));
    },
  };
}
