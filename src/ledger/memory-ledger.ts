import { cutTexts } from "./ledger-line.ts";
import type { Ledger, LedgerEntry } from "./ledger.ts";

/** A ledger that lives as long as this process, and keeps the last `maxEntries` entries. */
export function memoryLedger({ maxEntries = 10_000 }: { readonly maxEntries?: number } = {}): Ledger {
  const entries: LedgerEntry[] = [];
  let isOpen = true;
  return {
    record(entry) {
      if (!isOpen) return;
      entries.push(Object.freeze(cutTexts(entry)));
      // In one go now and then: taking one away at a time would move all the others each time.
      if (entries.length >= 2 * maxEntries) entries.splice(0, entries.length - maxEntries);
    },
    async *read() {
      yield* await Promise.resolve(entries.slice(-maxEntries));
    },
    close() {
      isOpen = false;
    },
  };
}
