import type { Settings } from "../../options.ts";
import type { SkillService } from "./skill-service.ts";

/** One service for many connections: loaded and opened for the first, closed after the last; reopened for the next. */
export interface SharedService {
  use(): { readonly service: Promise<SkillService>; readonly release: () => void };
}

/** @param open Default: on its own thread. */
export function shareService(
  settings: Settings,
  open: (settings: Settings) => Promise<SkillService> = load,
): SharedService {
  let current: { readonly service: Promise<SkillService>; users: number } | undefined;
  return {
    use() {
      const shared = (current ??= { service: open(settings), users: 0 });
      shared.users++;
      let isReleased = false;
      return {
        service: shared.service,
        release() {
          if (isReleased) return;
          isReleased = true;
          if (--shared.users > 0) return;
          if (current === shared) current = undefined;
          // A failure to open was reported to its users.
          shared.service.then(
            (service) => service.close(),
            () => undefined,
          );
        },
      };
    },
  };
}

async function load(settings: Settings): Promise<SkillService> {
  const { openService } = await import("./open-service.ts");
  return openService(settings);
}
