import type { SkillService } from "./skill-service.ts";

/** One service for many connections: opened for the first and closed after the last; reopened for the next. */
export interface SharedService {
  use(): { readonly service: SkillService; readonly release: () => void };
}

export function shareService(open: () => SkillService): SharedService {
  let current: { readonly service: SkillService; users: number } | undefined;
  return {
    use() {
      const shared = (current ??= { service: open(), users: 0 });
      shared.users++;
      let isReleased = false;
      return {
        service: shared.service,
        release() {
          if (isReleased) return;
          isReleased = true;
          if (--shared.users > 0) return;
          if (current === shared) current = undefined;
          void shared.service.close();
        },
      };
    },
  };
}
