import { Readable } from "node:stream";
import { expect, test } from "vitest";
import type { Ledger, LedgerEntry } from "../../../src/runtime/ledger.ts";
import { countRefusals } from "../../../src/runtime/ledger/count-refusals.ts";
import { manualClock } from "../../manual-clock.ts";

const refused = (facts: Partial<LedgerEntry> = {}): LedgerEntry => ({
  at: 1,
  tool: "execute_skill",
  caller: "ci",
  outcome: "refused",
  code: "SKILL_NOT_FOUND",
  door: "http",
  ...facts,
});

function open(): { ledger: Ledger; rows: LedgerEntry[]; clock: ReturnType<typeof manualClock> } {
  const rows: LedgerEntry[] = [];
  const clock = manualClock();
  const inner: Ledger = {
    record: (entry) => void rows.push(entry),
    read: () => Readable.from(rows) as AsyncIterable<LedgerEntry>,
    close: () => undefined,
  };
  return { ledger: countRefusals(inner, clock), rows, clock };
}

test("refusals of one caller for one reason are a row at once, and one a minute that counts the others", () => {
  const { ledger, rows, clock } = open();
  for (let call = 0; call < 20_000; call++) ledger.record(refused({ at: call, asked: `skill-${call}` }));
  expect(rows).toEqual([refused({ at: 0, asked: "skill-0" })]);
  clock.pass(60_000);
  expect(rows.slice(1)).toEqual([
    refused({ at: 19_999, asked: "skill-19999", about: "asked for skill-1, skill-2, skill-3", count: 19_999 }),
  ]);
  ledger.record(refused({ at: 5 }));
  clock.pass(60_000);
  expect(rows).toHaveLength(3);
});

test("distinguishes callers, sessions, doors and reasons, and counts nothing else", () => {
  const { ledger, rows } = open();
  const different = [
    { caller: "kim" },
    { sessionId: "s" },
    { door: "mcp" },
    { code: "PERMISSION_DENIED" },
    { event: "refusal" },
  ];
  for (const facts of [{}, ...different]) ledger.record(refused(facts));
  expect(rows).toHaveLength(6);
  for (let call = 0; call < 5; call++)
    ledger.record({ at: 1, tool: "list_skills", outcome: "completed", door: "http" });
  expect(rows).toHaveLength(11);
});

test("writes what it counted when it is closed, and when there are too many callers", () => {
  const { ledger, rows } = open();
  for (const caller of ["one", "one", ...Array.from({ length: 1_000 }, (_, index) => `c${index}`)])
    ledger.record(refused({ caller }));
  expect(rows.filter(({ count }) => count !== undefined)).toEqual([refused({ caller: "one", count: 1 })]);
  ledger.record(refused({ caller: "c5" }));
  ledger.close();
  expect(rows.at(-1)).toEqual(refused({ caller: "c5", count: 1 }));
});
