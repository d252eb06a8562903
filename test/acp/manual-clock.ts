import type { Clock } from "../../src/clock.ts";

/** A clock that stands still until it is told to move on. */
export interface ManualClock extends Clock {
  advance(ms: number): void;
}

export function manualClock(): ManualClock {
  let time = 0;
  let timers: { readonly at: number; readonly callback: () => void }[] = [];
  return {
    now: () => time,
    after(ms, callback) {
      const timer = { at: time + ms, callback };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(ms) {
      const end = time + ms;
      for (;;) {
        const due = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (due === undefined) break;
        timers = timers.filter((timer) => timer !== due);
        time = due.at;
        due.callback();
      }
      time = end;
    },
  };
}
