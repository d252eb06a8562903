import type * as perf_hooks from "node:perf_hooks";

/** A clock, injected wherever code waits, so that tests control time. */
export interface Clock {
  /** Milliseconds since an arbitrary moment. */
  now(): number;
  /** Milliseconds for which this thread has been idle, since an arbitrary moment. If absent, `now` is used. */
  idle?(): number;
  /** Calls back once after `ms`; the returned function cancels. A pending timer never keeps the process alive. */
  after(ms: number, callback: () => void): () => void;
}

let perfHooks: typeof perf_hooks | undefined;

/** The real clock. */
export const systemClock: Clock = {
  // Importing perf_hooks would load ten modules of Node at each start.
  now() {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1_000 + nanoseconds / 1_000_000;
  },
  idle() {
    perfHooks ??= process.getBuiltinModule("node:perf_hooks");
    return perfHooks.performance.eventLoopUtilization().idle;
  },
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/**
 * The time in milliseconds on a clock that stands still while this thread is busy. By this clock, a reply that was sent at once is not
 * late, however late this thread reads it.
 */
export function timeWaited(clock: Pick<Clock, "now" | "idle">): number {
  return clock.idle?.() ?? clock.now();
}

/** Runs `work` after each `ms` until the returned function is called. Waits again once `work` has resolved or rejected. */
export function every(clock: Clock, ms: number | (() => number), work: () => unknown): () => void {
  let isOpen = true;
  let stop = wait();
  function wait(): () => void {
    return clock.after(typeof ms === "number" ? ms : ms(), () => {
      const done = work();
      if (done instanceof Promise) void done.then(again, again);
      else again();
    });
  }
  function again(): void {
    if (isOpen) stop = wait();
  }
  return () => {
    isOpen = false;
    stop();
  };
}

/** The result of `work`, or undefined after `ms`. Rejects as `work` does. */
export async function withinTime<Value>(work: Promise<Value>, clock: Clock, ms: number): Promise<Value | undefined> {
  let stop = (): void => undefined;
  const timeout = new Promise<undefined>((resolve) => {
    stop = clock.after(ms, () => resolve(undefined));
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    stop();
  }
}
