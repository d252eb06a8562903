/** @import { Clock } from "../../.build/base/clock.js" */

/**
 * The system clock, which can be advanced.
 * @returns {Clock & { forward: (milliseconds: number) => void }}
 */
export function quickClock() {
  /** @type {Set<{ at: number, timer: NodeJS.Timeout, callback: () => void }>} */
  const pending = new Set();
  let ahead = 0;
  const now = () => performance.now() + ahead;
  return {
    now,
    after(milliseconds, callback) {
      const fire = () => {
        pending.delete(entry);
        callback();
      };
      const entry = { at: now() + milliseconds, timer: setTimeout(fire, milliseconds).unref(), callback };
      pending.add(entry);
      return () => {
        clearTimeout(entry.timer);
        pending.delete(entry);
      };
    },
    forward(milliseconds) {
      ahead += milliseconds;
      for (const entry of [...pending].sort((a, b) => a.at - b.at)) {
        if (entry.at > now() || !pending.delete(entry)) continue;
        clearTimeout(entry.timer);
        entry.callback();
      }
    },
  };
}
