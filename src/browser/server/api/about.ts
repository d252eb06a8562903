import { homePath } from "../../../base/paths/location.ts";
import type { About } from "../../wire/skills.ts";
import type { MountBrowse } from "../browse-door.ts";

/** A page that begins has the processor for itself. */
const afterMs = 1_000;

/** `GET /api/about`. The sandbox is opened to find out what it is: the first answer does not wait for that, an `about` event follows. */
export const mountAbout: MountBrowse = ({ app, events, readOnly, directory, home }) => {
  let sandbox: About["sandbox"];
  let isInspecting = false;

  async function inspect(): Promise<void> {
    try {
      const found = await app.findSandbox();
      sandbox = "tier" in found ? { ...found, lacks: Object.keys(found.lacks) } : { unavailable: found.reason };
      events.push("about", {});
    } catch {
      // The skills were closed meanwhile: no page is left to notify.
    }
  }

  return [
    {
      method: "GET",
      path: "/api/about",
      answer() {
        if (!isInspecting) {
          isInspecting = true;
          app.clock.after(afterMs, () => void inspect());
        }
        const about: About = {
          version: app.version,
          readOnly,
          directory: homePath(directory, home),
          ...(sandbox !== undefined && { sandbox }),
        };
        return { json: about };
      },
    },
  ];
};

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
