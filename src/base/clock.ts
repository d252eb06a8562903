/** Time as a value: everything that waits takes one, so that tests decide when time passes. */
export interface Clock {
  /** Milliseconds since some fixed moment; only differences mean anything. */
  now(): number;
  /** Calls back once after `ms`; the returned function cancels. A pending timer never keeps the process alive. */
  after(ms: number, callback: () => void): () => void;
}

/** The real clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    timer.unref();
    return () => {
      clearTimeout(timer);
    };
  },
};
