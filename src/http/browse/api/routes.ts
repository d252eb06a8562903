import type { MountBrowse } from "../browse-door.ts";
import { mountAbout } from "./about.ts";
import { mountLiveEvents } from "./events.ts";
import { mountSkills } from "./skills.ts";

/** Every route behind the cookie, by concern. */
export const routes: readonly MountBrowse[] = [mountAbout, mountSkills, mountLiveEvents];
