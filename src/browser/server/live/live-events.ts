import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Clock } from "../../../base/clock.ts";
import { type EventStream, createCallerEvents, openEventStream } from "../../../serve/events.ts";
import { every } from "../../../base/clock.ts";
import type { BrowseAnswer } from "../browse-context.ts";

/** The events that all open pages receive. */
export interface LiveEvents {
  /** Sends an event to every page. A page that is disconnected for a moment gets it when it reconnects. */
  readonly push: (type: string, data: object) => void;
  /** Connects a page that has seen `lastEventId`. A new page, or one that missed more than 256 events, gets `reset` first. */
  readonly answer: (lastEventId: string | undefined) => BrowseAnswer;
  /** The number of connected pages. */
  readonly connected: () => number;
  /** Ends every stream. */
  readonly close: () => void;
}

const maxStreams = 16;
const remembered = 256;
const beatEveryMs = 15_000;
/** The milliseconds after which a disconnected page reconnects. */
const retry = "retry: 1000\n\n";

/** `reset`: the data by which a page finds out whether its list is current. `ended` is called when a page disconnects. */
export function openLiveEvents(clock: Clock, reset: () => object, ended: () => void): LiveEvents {
  const events = createCallerEvents({ epoch: randomBytes(6).toString("hex"), max: remembered });
  const open = new Set<EventStream>();
  /** The number of admitted pages whose stream is not open yet. */
  let starting = 0;
  let isClosed = false;
  let stopBeating = (): void => undefined;

  function openStream(response: ServerResponse, lastEventId: string | undefined): void {
    const missed = lastEventId === undefined ? undefined : events.since(lastEventId);
    const first = [retry, ...(missed ?? [events.now("reset", reset())])];
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    const stream = openEventStream(response, first, events.listen, () => {
      open.delete(stream);
      if (open.size === 0) stopBeating();
      ended();
    });
    if (open.size === 0) stopBeating = every(clock, beatEveryMs, () => open.forEach((stream) => stream.beat()));
    open.add(stream);
  }

  return {
    push: events.push,
    connected: () => open.size,
    answer(lastEventId) {
      const message = `The limit of ${maxStreams} open pages is reached; close one.`;
      if (isClosed || open.size + starting >= maxStreams)
        return { refused: { status: 503, code: "RATE_LIMITED", message, headers: { "retry-after": "5" } } };
      starting += 1;
      return {
        stream(response) {
          starting -= 1;
          openStream(response, lastEventId);
        },
      };
    },
    close() {
      isClosed = true;
      for (const stream of [...open]) stream.end();
    },
  };
}
