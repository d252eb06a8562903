import { homePath } from "../../../base/paths/shown-path.ts";
import { isSkillsError } from "../../../errors.ts";
import type { About } from "../../../wire/browse/skills.ts";
import type { MountBrowse } from "../browse-door.ts";

/** A page that begins has the processor for itself. */
const afterMs = 1_000;

/** `GET /api/about`. The sandbox is opened to find out what it is: the first answer does not wait for that, an `about` event follows. */
export const mountAbout: MountBrowse = ({ app, events, readOnly, directory, home }) => {
  let sandbox: About["sandbox"];
  let isLooking = false;

  async function look(): Promise<void> {
    try {
      sandbox = { tier: await app.sandboxTier() };
    } catch (error) {
      if (isSkillsError(error) && error.code === "CLOSED") return;
      if (!isSkillsError(error)) app.log("error", `The sandbox cannot be opened: ${String(error)}`);
      sandbox = { unavailable: isSkillsError(error) ? error.message : "The sandbox cannot be opened; see the log." };
    }
    events.push("about", {});
  }

  return [
    {
      method: "GET",
      path: "/api/about",
      answer() {
        if (!isLooking) {
          isLooking = true;
          app.clock.after(afterMs, () => void look());
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
