import type { Clock } from "../../base/clock.ts";

/** The result of `work`, or undefined after `ms`. Rejects as `work` does. */
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
