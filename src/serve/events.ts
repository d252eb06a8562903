export { type EventStream, openEventStream } from "./events/event-stream.ts";

/** What happened for one caller, so far as it is remembered; the source of its streams. */
export interface CallerEvents {
  readonly push: (type: string, data: object) => void;
  /**
   * What a client has missed that has seen events up to `lastEventId`; undefined if that is not known, because the id is too old or not of
   * this process.
   */
  readonly since: (lastEventId: string) => readonly string[] | undefined;
  /** An event that is sent to one client, and not remembered. Its id is that of the latest one. */
  readonly now: (type: string, data: object) => string;
  /** Calls back with the text of every event; the returned function unsubscribes. `listener` must not throw. */
  readonly listen: (listener: (text: string) => void) => () => void;
}

/** Remembers the latest `most` events. `epoch` tells processes apart; ids of another caller would be no secret, but tell nothing here. */
export function createCallerEvents({ epoch, most }: { readonly epoch: string; readonly most: number }): CallerEvents {
  /** The texts of the events `latest - remembered.length + 1` to `latest`. */
  const remembered: string[] = [];
  const listeners = new Set<(text: string) => void>();
  let latest = 0;

  return {
    push(type, data) {
      latest += 1;
      const text = toText(`${epoch}-${latest}`, type, data);
      remembered.push(text);
      if (remembered.length > most) remembered.shift();
      for (const listener of listeners) listener(text);
    },
    since(lastEventId) {
      const [, of, digits] = /^([0-9a-z]{1,32})-(\d{1,15})$/.exec(lastEventId) ?? [];
      if (of !== epoch) return undefined;
      const missed = latest - Number(digits);
      return missed < 0 || missed > remembered.length ? undefined : remembered.slice(remembered.length - missed);
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
