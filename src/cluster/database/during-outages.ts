import type { Clock } from "../../base/clock.ts";
import { isOutage } from "./database-error.ts";

const retryMs = 500;

/** Repeats `work` in an outage, until `signal` is aborted or `forMs` is over. `isRetry`: an attempt may have succeeded unanswered. */
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
