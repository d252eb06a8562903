import { createDeferred } from "../../src/base/promises.ts";
import type { Toolbox } from "../../src/runtime/tools/toolbox.ts";

export interface WaitingToolbox {
  readonly wrap: () => Pick<Toolbox, "call">;
  /** Resolve with the first call that starts, and that is cancelled. */
  readonly started: Promise<void>;
  readonly cancelled: Promise<void>;
  readonly cancelledCalls: () => number;
}

/** A toolbox whose calls wait until they are cancelled. */
export function waitingToolbox(): WaitingToolbox {
  const started = createDeferred();
  const cancelled = createDeferred();
  let count = 0;
  const toolbox: Pick<Toolbox, "call"> = {
    call: (_name, _args, _context, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener("abort", () => {
          count += 1;
          cancelled.resolve();
          reject(signal.reason as Error);
        });
        started.resolve();
      }),
  };
  return {
    wrap: () => toolbox,
    started: started.promise,
    cancelled: cancelled.promise,
    cancelledCalls: () => count,
  };
}
