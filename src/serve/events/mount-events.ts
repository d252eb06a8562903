import { type MountRoutes, toRefusalResponse } from "../http-door.ts";
import { createEventFeed } from "./event-feed.ts";
import { createEventStreams } from "./open-streams.ts";

const headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
};

/** How soon a client that was disconnected comes back. */
const retry = "retry: 2000\n\n";

/**
 * `GET /events`: server-sent events of changes of the skills that the caller discovers, and of its runs. A client that sends
 * `Last-Event-ID` gets what it has missed; a new one, or one that has missed too much, gets `reset` first.
 */
export const mountEvents: MountRoutes = (routes, door) => {
  const feed = createEventFeed(door);
  const streams = createEventStreams(door);
  routes.get("/events", (context) => {
    const { caller, incoming, leaveRequests } = context.env;
    // hono answers HEAD by GET, and would never read the stream.
    if (context.req.method === "HEAD") return context.body(null, 200, headers);
    const reader = { caller, address: incoming.socket.remoteAddress };
    const refusal = streams.refusalOf(reader);
    if (refusal !== undefined) return toRefusalResponse(context, refusal);
    leaveRequests();
    const events = feed.of(caller);
    const { "last-event-id": lastEventId } = incoming.headers;
    const missed = typeof lastEventId === "string" ? events.since(lastEventId) : undefined;
    const first = [retry, ...(missed ?? [events.now("reset", feed.snapshot())])];
    return context.body(streams.open(reader, { first, listen: events.listen }), 200, headers);
  });
};
