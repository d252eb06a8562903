/** Injected wherever code waits, so that tests control time. */
export interface Clock {
  /** Milliseconds since an arbitrary moment. */
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
