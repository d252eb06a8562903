import type { Clock } from "../../base/clock.ts";
import { isOutage } from "./database-error.ts";

const retryMs = 500;

/** Tries again while the database is not reached, until `signal` is aborted or the time is over. `isRetry`: whether it may have been done, without an answer. */
export async function duringOutages<Result>(
  work: (isRetry: boolean) => Promise<Result>,
  { clock, signal, forMs = Infinity }: { readonly clock: Clock; readonly signal: AbortSignal; readonly forMs?: number },
): Promise<Result> {
  const start = clock.now();
  for (let isRetry = false; ; isRetry = true) {
    try {
      return await work(isRetry);
    } catch (error) {
      if (!isOutage(error) || signal.aborted || clock.now() - start > forMs) throw error;
      await new Promise<void>((resolve) => clock.after(retryMs, resolve));
    }
  }
}
