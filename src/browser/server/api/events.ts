import type { MountBrowse } from "../browse-door.ts";

/** `GET /api/events`: server-sent events. A page that sends `Last-Event-ID` gets what it has missed, or `reset`. */
export const mountLiveEvents: MountBrowse = ({ events }) => [
  {
    method: "GET",
    path: "/api/events",
    answer({ incoming }) {
      if (incoming.method === "HEAD") return { json: {} };
      const { "last-event-id": lastEventId } = incoming.headers;
      return events.answer(typeof lastEventId === "string" ? lastEventId : undefined);
    },
  },
];
