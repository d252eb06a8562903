import type { Clock } from "../../base/clock.ts";
import type { Ledger, LedgerEntry } from "../ledger.ts";

const windowMs = 60_000;
/** Of those that were asked for, in a row. */
const mostNames = 3;
/** Of more the oldest is written at once. */
const mostWindows = 1_000;

interface Window {
  count: number;
  last: LedgerEntry;
  /** Names that were asked for, the first few. */
  readonly asked: Set<string>;
  readonly stop: () => void;
}

/**
 * A ledger in which the refusals of one caller for one reason are two rows a minute: the first one, and one that counts the others and has
 * the facts of the last. Nobody fills the ledger with what is refused.
 */
export function countRefusals(ledger: Ledger, clock: Clock): Ledger {
  const windows = new Map<string, Window>();

  function end(key: string): void {
    const window = windows.get(key);
    windows.delete(key);
    window?.stop();
    if (window === undefined || window.count === 0) return;
    const { last, count, asked } = window;
    const names = asked.size > 1 ? { about: `asked for ${[...asked].join(", ")}` } : {};
    ledger.record({ ...last, ...names, count });
  }

  return {
    record(entry) {
      if (entry.outcome !== "refused" && entry.event !== "refusal") return ledger.record(entry);
      const { caller, door, sessionId, event, code } = entry;
      const key = JSON.stringify([caller, door, sessionId, event, code]);
      const window = windows.get(key);
      if (window !== undefined) {
        window.count++;
        window.last = entry;
        if (entry.asked !== undefined && window.asked.size < mostNames) window.asked.add(entry.asked.slice(0, 64));
        return undefined;
      }
      const fault = ledger.record(entry);
      const [oldest] = windows.size < mostWindows ? [] : windows.keys();
      if (oldest !== undefined) end(oldest);
      windows.set(key, { count: 0, last: entry, asked: new Set(), stop: clock.after(windowMs, () => end(key)) });
      return fault;
    },
    read: () => ledger.read(),
    close() {
      for (const key of [...windows.keys()]) end(key);
      ledger.close();
    },
  };
}
