import { memoryLedger } from "../../src/ledger/memory-ledger.ts";
import { describeLedger } from "../contract/ledger.ts";

describeLedger("in memory", ({ maxKept } = { maxKept: 10_000 }) => ({
  ledger: memoryLedger({ maxEntries: maxKept }),
  close: () => undefined,
}));
