import type { Clock } from "../../base/clock.ts";
import { frameLimits } from "./frame-limits.ts";
import type { Frame } from "./frames.ts";

/** A token bucket. */
interface Budget {
  left: number;
  readonly most: number;
  readonly perSecond: number;
}

/**
 * Rate limit of the frames of a run: waits after a frame that exceeds it. Nothing is read meanwhile, so the run blocks on its pipe.
 * Aborting the signal ends the wait.
 */
export function openFramePace(clock: Clock): (frame: Frame, over: AbortSignal) => Promise<void> {
  const { burstBytes, bytesPerSecond, burstCalls, callsPerSecond } = frameLimits;
  const bytes: Budget = { left: burstBytes, most: burstBytes, perSecond: bytesPerSecond };
  const calls: Budget = { left: burstCalls, most: burstCalls, perSecond: callsPerSecond };
  let last = clock.now();

  return async ({ header, headerBytes }, over) => {
    const now = clock.now();
    for (const budget of [bytes, calls]) {
      budget.left = Math.min(budget.most, budget.left + ((now - last) / 1000) * budget.perSecond);
    }
    last = now;
    bytes.left -= headerBytes;
    if (header.type === "create_blob" || header.type === "call_skill") calls.left -= 1;
    const ms = Math.max(...[bytes, calls].map(({ left, perSecond }) => (-left / perSecond) * 1000));
    if (ms > 0) await waitFor(ms, clock, over);
  };
}

function waitFor(ms: number, clock: Clock, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      over.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    if (over.aborted) done();
    else over.addEventListener("abort", done);
  });
}
