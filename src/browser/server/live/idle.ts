import type { Clock } from "../../../base/clock.ts";

/** Notices that nobody uses the page any more. */
export interface Idle {
  /** Something was asked, or a page went. */
  readonly touch: () => void;
  readonly stop: () => void;
}

/** Calls `ended` once, when for `ms` nothing was asked and `isUsed` says that no page is connected. */
export function watchIdle({
  clock,
  ms,
  isUsed,
  ended,
}: {
  readonly clock: Clock;
  readonly ms: number;
  readonly isUsed: () => boolean;
  readonly ended: () => void;
}): Idle {
  let lastUse = clock.now();
  let cancel = (): void => undefined;
  function check(): void {
    const left = isUsed() ? ms : lastUse + ms - clock.now();
    if (left <= 0) ended();
    else cancel = clock.after(left, check);
  }
  check();
  return {
    touch() {
      lastUse = clock.now();
    },
    stop: () => cancel(),
  };
}
