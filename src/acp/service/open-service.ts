import type { Settings } from "../../options.ts";
import { chooseChannel } from "../../base/threads/choose-channel.ts";
import { toSettingsData } from "../../options.ts";
import { openRemoteService } from "./remote-service.ts";
import type { SkillService } from "./skill-service.ts";
import { urlOf } from "../../base/url-of.ts";

/** Opens the service on its own thread, if one can be started. */
export function openService(settings: Settings): SkillService {
  return openRemoteService(
    settings,
    chooseChannel({
      entry: new URL("./worker.js", urlOf(import.meta)),
      place: "acp/service/worker.js",
      workerData: toSettingsData(settings),
      serve: async (port) => {
        const { servePort } = await import("./serve-port.ts");
        servePort(port, settings);
      },
      log: settings.log,
    }),
  );
}
