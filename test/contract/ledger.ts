import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Ledger, LedgerEntry } from "../../src/runtime/ledger.ts";

export interface OpenLedger {
  readonly ledger: Ledger;
  readonly close: () => void;
}

const entry = fc.record(
  {
    at: fc.integer({ min: 0, max: 4_000_000_000_000 }),
    tool: fc.string({ unit: "binary", maxLength: 200 }),
    skill: fc.string({ unit: "binary", maxLength: 200 }),
    event: fc.string({ maxLength: 200 }),
    digest: fc.string({ maxLength: 200 }),
    outcome: fc.constantFrom("completed", "failed", "refused", "asked", "allowed", "denied"),
    about: fc.string({ unit: "binary", maxLength: 200 }),
    sessionId: fc.string({ unit: "binary", maxLength: 200 }),
    subagent: fc.string({ unit: "binary", maxLength: 200 }),
    door: fc.string({ maxLength: 200 }),
  },
  { requiredKeys: ["at", "tool", "door"] },
) satisfies fc.Arbitrary<LedgerEntry>;

export async function readAll(ledger: Ledger): Promise<LedgerEntry[]> {
  const entries: LedgerEntry[] = [];
  for await (const each of ledger.read()) entries.push(each);
  return entries;
}

export const use = (number: number): LedgerEntry => ({ at: number, tool: `tool-${number}`, door: "mcp" });

/** The contract of `Ledger`, run by every adapter. `maxKept` is the approximate number of entries to keep. */
export function describeLedger(name: string, open: (options?: { maxKept: number }) => OpenLedger): void {
  async function withLedger(run: (ledger: Ledger) => Promise<void>, options?: { maxKept: number }): Promise<void> {
    const { ledger, close } = open(options);
    try {
      await run(ledger);
    } finally {
      ledger.close();
      close();
    }
  }

  describe(`a ledger ${name}`, () => {
    test("reads the recorded entries, oldest first", async () => {
      const entries = fc.array(entry, { maxLength: 20 });
      await fc.assert(
        fc.asyncProperty(entries, (given) =>
          withLedger(async (ledger) => {
            const recorded = given.map((each, index) => ({ ...each, at: each.at + index }));
            recorded.sort((one, other) => one.at - other.at);
            fc.pre(new Set(recorded.map(({ at }) => at)).size === recorded.length);
            for (const each of recorded) ledger.record(each);
            expect(await readAll(ledger)).toEqual(recorded);
          }),
        ),
        { numRuns: 50 },
      );
    });

    test("keeps the parts that distinguish long texts", () =>
      withLedger(async (ledger) => {
        const long = "x".repeat(1_000_000);
        ledger.record({ at: 1, tool: long, skill: long, sessionId: long, door: long });
        const [{ at, ...texts } = use(0)] = await readAll(ledger);
        expect(at).toBe(1);
        for (const text of Object.values(texts)) expect(text).toMatch(/^x{128} … x{64} \(1000000 characters, sha256:/);
      }));

    test("keeps only the latest entries", () =>
      withLedger(
        async (ledger) => {
          for (let number = 0; number < 1_000; number++) ledger.record(use(number));
          const kept = (await readAll(ledger)).filter(({ event }) => event !== "dropped");
          expect(kept.length).toBeGreaterThanOrEqual(50);
          expect(kept.length).toBeLessThanOrEqual(250);
          expect(kept).toEqual(Array.from({ length: kept.length }, (_, index) => use(1_000 - kept.length + index)));
        },
        { maxKept: 100 },
      ));

    test("does not throw for an invalid entry and records the following ones", () =>
      withLedger(async (ledger) => {
        expect(ledger.record({ ...use(1), at: Number.NaN })).toBeTypeOf("string");
        ledger.record({ ...use(2), tool: undefined as unknown as string });
        ledger.record(use(3));
        expect((await readAll(ledger)).at(-1)).toEqual(use(3));
      }));

    test("records nothing after close, and can be closed twice", () =>
      withLedger(async (ledger) => {
        ledger.record(use(1));
        ledger.close();
        ledger.close();
        ledger.record(use(2));
        expect(await readAll(ledger)).toEqual([use(1)]);
      }));
  });
}
