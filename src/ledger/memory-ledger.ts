import { fromLedgerLine, toLedgerLine } from "./ledger-line.ts";
import type { Ledger } from "./ledger.ts";

/** A ledger in memory that keeps the last `maxEntries` entries. */
export function memoryLedger({ maxEntries = 10_000 }: { readonly maxEntries?: number } = {}): Ledger {
  const lines: string[] = [];
  let isOpen = true;
  return {
    record(entry) {
      if (!isOpen) return;
      try {
        lines.push(toLedgerLine(entry));
      } catch {
        return; // An invalid time: nothing to keep.
      }
      // Removed in batches: removing one at a time would move all others each time.
      if (lines.length >= 2 * maxEntries) lines.splice(0, lines.length - maxEntries);
    },
    async *read() {
      for (const line of lines.slice(-maxEntries)) {
        const entry = fromLedgerLine(line);
        if (entry !== undefined) yield await Promise.resolve(entry);
      }
    },
    close() {
      isOpen = false;
    },
  };
}
