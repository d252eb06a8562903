import type { MountBrowse } from "../browse-context.ts";
import { mountBlobs, mountRuns } from "../runs/mount-runs.ts";
import { mountHistory } from "../runs/mount-history.ts";
import { mountBudget } from "./budget.ts";
import { mountSessions } from "./sessions.ts";
import { mountSkills } from "./skills.ts";
import { mountSources } from "./sources.ts";
import { homePath } from "../../../base/paths/location.ts";
import type { App } from "../../../runtime/app.ts";
import type { About } from "../../wire/skills.ts";

/** `GET /api/about`. Only `?sandbox` opens the sandbox to find its tier, and waits until it is found. */
const mountAbout: MountBrowse = ({ app, readOnly, directory, home }) => ({
  async "GET /api/about"({ query }) {
    const about: About = {
      version: app.version,
      readOnly,
      directory: homePath(directory, home),
      ...(query.has("sandbox") && { sandbox: await findSandbox(app) }),
    };
    return { json: about };
  },
});

async function findSandbox(app: Pick<App, "findSandbox">): Promise<NonNullable<About["sandbox"]>> {
  const found = await app.findSandbox();
  return "tier" in found ? { ...found, lacks: Object.keys(found.lacks) } : { unavailable: found.reason };
}

/** `GET /api/events`: server-sent events. A page that sends `Last-Event-ID` gets the events that it has missed, or `reset`. */
const mountLiveEvents: MountBrowse = ({ events }) => ({
  "GET /api/events"({ incoming }) {
    if (incoming.method === "HEAD") return { json: {} };
    const { "last-event-id": lastEventId } = incoming.headers;
    return events.answer(typeof lastEventId === "string" ? lastEventId : undefined);
  },
});

/** Every route that needs the cookie, by concern. */
export const browseRoutes: readonly MountBrowse[] = [
  mountAbout,
  mountSkills,
  mountLiveEvents,
  mountRuns,
  mountBlobs,
  mountHistory,
  mountSessions,
  mountBudget,
  mountSources,
];
