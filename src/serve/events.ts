import type { Writable } from "node:stream";

/** The recent events of one caller; the source of its streams. */
export interface CallerEvents {
  readonly push: (type: string, data: object) => void;
  /**
   * The events that a client has missed since `lastEventId`; undefined if that is not known, because the id is too old or not of this process.
   */
  readonly since: (lastEventId: string) => readonly string[] | undefined;
  /** An event that is sent to one client, and not stored. Its id is that of the latest one. */
  readonly now: (type: string, data: object) => string;
  /** Calls back with the text of every event; the returned function unsubscribes. `listener` must not throw. */
  readonly listen: (listener: (text: string) => void) => () => void;
}

/** Stores the latest `most` events. `epoch` distinguishes processes; ids of another caller are no secret, but refer to nothing here. */
export function createCallerEvents({ epoch, most }: { readonly epoch: string; readonly most: number }): CallerEvents {
  /** The texts of the events `latest - stored.length + 1` to `latest`. */
  const stored: string[] = [];
  const listeners = new Set<(text: string) => void>();
  let latest = 0;

  return {
    push(type, data) {
      latest += 1;
      const text = toText(`${epoch}-${latest}`, type, data);
      stored.push(text);
      if (stored.length > most) stored.shift();
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

/** A block of `text/event-stream`. JSON has no line breaks of its own, so that data cannot add a field. */
function toText(id: string, type: string, data: object): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** A stream of events to one client. */
export interface EventStream {
  /** Sends a comment, if the client has read everything, so that the connection is not taken for dead. */
  readonly beat: () => void;
  /** Idempotent. */
  readonly end: () => void;
}

/** Events that wait for a client to read; when there are more, the stream is ended, and the client can resume. */
const maxWaiting = 64;

/** Sends `first`, then the events that `listen` reports, until the response is closed. `ended` is called once, whoever ends the stream. */
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

  /** What waits meanwhile is sent when the system has taken it. */
  function write(text: string): void {
    if (response.destroyed) return;
    response.write(text, () => {
      if (waiting.length > 0 && !isEnded) write(waiting.splice(0).join(""));
    });
  }

  response.on("close", finish).on("error", finish);
  // As one piece, so that what a client has missed does not count as waiting.
  write(first.join(""));
  return {
    end,
    beat() {
      if (!isEnded && response.writableLength === 0) write(": \n\n");
    },
  };
}
