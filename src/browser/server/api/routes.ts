import type { MountBrowse } from "../browse-door.ts";
import { mountBlobs, mountRuns } from "../runs/mount-runs.ts";
import { mountHistory } from "../runs/mount-history.ts";
import { mountAbout, mountLiveEvents } from "./about.ts";
import { mountBudget } from "./budget.ts";
import { mountSessions } from "./sessions.ts";
import { mountSkills } from "./skills.ts";
import { mountSources } from "./sources.ts";

/** Every route behind the cookie, by concern. */
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
