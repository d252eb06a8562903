import type { Refusal } from "../../wire/http/refusal.ts";
import type { HttpCaller } from "../http-caller.ts";
import type { HttpDoor, MountRoutes } from "../http-door.ts";
import { refused } from "../answer/refuse-request.ts";
import { openEventFeed } from "./event-feed.ts";
import { openEventStream } from "./event-stream.ts";
import type { EventStream } from "./event-stream.ts";

const headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
};

/** How soon a client that was disconnected comes back. */
const retry = "retry: 2000\n\n";
const beatEveryMs = 15_000;

/**
 * `GET /events`: server-sent events of changes of the skills that the caller discovers, and of its runs. A client that sends
 * `Last-Event-ID` gets what it has missed; a new one, or one that has missed too much, gets `reset` first.
 */
export const mountEvents: MountRoutes = (routes, door) => {
  const feed = openEventFeed(door);
  const streams = openStreams(door);
  routes.get("/events", (context) => {
    const { caller, incoming } = context.env;
    // hono answers HEAD by GET, and would never read the stream.
    if (context.req.method === "HEAD") return context.body(null, 200, headers);
    const refusal = streams.refusalOf(caller);
    if (refusal !== undefined) return refused(context, refusal);
    const events = feed.of(caller);
    const { "last-event-id": lastEventId } = incoming.headers;
    const missed = typeof lastEventId === "string" ? events.since(lastEventId) : undefined;
    const first = [retry, ...(missed ?? [events.now("reset", feed.snapshot())])];
    return context.body(streams.open(caller, { first, listen: events.listen }), 200, headers);
  });
};

/** The open streams, kept alive, and ended when the server stops. */
function openStreams({ app, config, draining, metrics }: HttpDoor): {
  readonly refusalOf: (caller: HttpCaller) => Refusal | undefined;
  readonly open: (
    caller: HttpCaller,
    given: Pick<Parameters<typeof openEventStream>[0], "first" | "listen">,
  ) => ReadableStream<Uint8Array>;
} {
  const open = new Map<EventStream, string>();
  const most = config.limits.eventStreams;
  /** One caller, or all that are anonymous together, cannot take every stream. */
  const mostOfOne = Math.max(1, Math.floor(most / 4));
  let stopBeating: (() => void) | undefined;

  function beatAgain(): void {
    stopBeating = app.clock.after(beatEveryMs, () => {
      for (const stream of open.keys()) stream.beat();
      beatAgain();
    });
  }

  draining.addEventListener("abort", () => {
    for (const stream of [...open.keys()]) stream.end();
  });

  return {
    refusalOf({ name }) {
      if (draining.aborted) return unavailable("The server is stopping.");
      if (open.size >= most) return unavailable(`The limit of ${most} event streams is reached.`);
      const own = [...open.values()].filter((other) => other === name).length;
      if (own < mostOfOne) return undefined;
      const message = `The limit of ${mostOfOne} event streams of one caller is reached; close one.`;
      return { status: 429, code: "RATE_LIMITED", message, headers: retryLater };
    },
    open({ name }, given) {
      metrics.streamOpened();
      if (open.size === 0) beatAgain();
      const stream = openEventStream({
        ...given,
        ended() {
          open.delete(stream);
          metrics.streamClosed();
          if (open.size === 0) stopBeating?.();
        },
      });
      open.set(stream, name);
      return stream.body;
    },
  };
}

const retryLater = { "retry-after": "5" };

function unavailable(message: string): Refusal {
  return { status: 503, code: "RATE_LIMITED", message, headers: retryLater };
}
