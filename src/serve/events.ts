import type { Writable } from "node:stream";

/** The recent events of one caller; the source of its streams. */
export interface CallerEvents {
  readonly push: (type: string, data: object) => void;
  /** Returns the events that a client has missed since `lastEventId`; undefined if the id is too old, or of another process. */
  readonly since: (lastEventId: string) => readonly string[] | undefined;
  /** Returns an event for one client, which is not stored. Its id is that of the latest event. */
  readonly now: (type: string, data: object) => string;
  /** Calls `listener`, which must not throw, with the text of every event. The returned function unsubscribes. */
  readonly listen: (listener: (text: string) => void) => () => void;
}

/** Stores the latest `max` events. `epoch` distinguishes processes. Ids of another caller are no secret, but name no event here. */
export function createCallerEvents({ epoch, max }: { readonly epoch: string; readonly max: number }): CallerEvents {
  /** The texts of the events `latest - stored.length + 1` to `latest`. */
  const stored: string[] = [];
  const listeners = new Set<(text: string) => void>();
  let latest = 0;

  return {
    push(type, data) {
      latest += 1;
      const text = toText(`${epoch}-${latest}`, type, data);
      stored.push(text);
      if (stored.length > max) stored.shift();
      for (const listener of listeners) listener(text);
    },
    since(lastEventId) {
      const [, of, digits] = /^([0-9a-z]{1,32})-(\d{1,15})$/.exec(lastEventId) ?? [];
      if (of !== epoch) return undefined;
      const missed = latest - Number(digits);
      return missed < 0 || missed > stored.length ? undefined : stored.slice(stored.length - missed);
    },
    now: (type, data) => toText(`${epoch}-${latest}`, type, data),
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Formats a block of `text/event-stream`. JSON has no line breaks, so that data cannot add a field. */
function toText(id: string, type: string, data: object): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** A stream of events to one client. */
export interface EventStream {
  /** Sends a comment if the client has read everything, so that the connection does not seem dead. */
  readonly beat: () => void;
  /** Ends the stream. Idempotent. */
  readonly end: () => void;
}

/** The maximum number of events that wait for a client to read. If there are more, the stream ends, and the client can resume. */
const maxWaiting = 64;

/** Sends `first`, then the events that `listen` reports, until the response is closed. `ended` is called once, when the stream ends. */
export function openEventStream(
  response: Writable,
  first: readonly string[],
  listen: CallerEvents["listen"],
  ended: () => void,
): EventStream {
  const waiting: string[] = [];
  let isEnded = false;
  const stopListening = listen((text) => {
    if (response.writableLength === 0) write(text);
    else if (waiting.length < maxWaiting) waiting.push(text);
    else end();
  });

  function end(): void {
    finish();
    if (!response.destroyed) response.end();
  }

  function finish(): void {
    if (isEnded) return;
    isEnded = true;
    stopListening();
    ended();
  }

  /** Writes a text, then the events that waited until the system had taken it. */
  function write(text: string): void {
    if (response.destroyed) return;
    response.write(text, () => {
      if (waiting.length > 0 && !isEnded) write(waiting.splice(0).join(""));
    });
  }

  response.on("close", finish).on("error", finish);
  // All in one write, so that missed events do not count as waiting.
  write(first.join(""));
  return {
    end,
    beat() {
      if (!isEnded && response.writableLength === 0) write(": \n\n");
    },
  };
}
