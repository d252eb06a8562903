import type { Clock } from "../src/base/clock.ts";

/** A clock that the test advances. */
export interface ManualClock extends Clock {
  /** Advances the time and runs due timers in order. */
  pass(milliseconds: number): void;
  readonly pending: number;
}

export function manualClock(): ManualClock {
  const timers = new Set<{ at: number; callback: () => void }>();
  let time = 0;
  return {
    now: () => time,
    after(milliseconds, callback) {
      const timer = { at: time + milliseconds, callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    pass(milliseconds) {
      const end = time + milliseconds;
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        timers.delete(next);
        time = Math.max(time, next.at);
        next.callback();
      }
      time = end;
    },
    get pending() {
      return timers.size;
    },
  };
}
