import type { Clock } from "../../base/clock.ts";

/** What `work` resolves with, or undefined when it takes longer than `ms`. Rejects as it does. */
export async function withinTime<Value>(work: Promise<Value>, clock: Clock, ms: number): Promise<Value | undefined> {
  let stop = (): void => undefined;
  const timeout = new Promise<undefined>((resolve) => {
    stop = clock.after(ms, () => {
      resolve(undefined);
    });
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    stop();
  }
}
