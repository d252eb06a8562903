import { expect, test } from "vitest";
import * as fc from "fast-check";
import { fromLedgerLine, toLedgerLine } from "../../src/ledger/ledger.ts";

test("a line is JSON with wire names and one trailing newline", () => {
  expect(toLedgerLine({ at: 0, tool: "read_blob", skill: "a.b", sessionId: "s\n1", door: "acp" })).toBe(
    '{"at":"1970-01-01T00:00:00.000Z","tool":"read_blob","skill":"a.b","session_id":"s\\n1","door":"acp"}\n',
  );
});

test("round-trips outcome, code, version and run id, and parses older lines without them", () => {
  const before = { at: 0, tool: "execute_skill", skill: "a.b", sessionId: "s1", door: "mcp" };
  const entry = {
    ...before,
    version: "1.2.0",
    runId: "run_0123456789",
    outcome: "failed",
    code: "ValueError",
  } as const;
  expect(fromLedgerLine(toLedgerLine(entry))).toEqual(entry);
  expect(fromLedgerLine(toLedgerLine(before))).toEqual(before);
});

test("ignores an unknown outcome of a later version and parses the rest", () => {
  const line = toLedgerLine({ at: 0, tool: "x", door: "mcp", outcome: "completed" }).replace("completed", "queued");
  expect(fromLedgerLine(line)).toEqual({ at: 0, tool: "x", door: "mcp" });
});

test.each([
  "",
  "null",
  "[]",
  "{}",
  "\u0000\u0000",
  '{"at":"2026-11-21T10:00:00.000Z","tool":"x"',
  '{"at":"yesterday","tool":"x","door":"mcp"}',
  '{"at":"2026-11-21T10:00:00.000Z","tool":1,"door":"mcp"}',
])("%j is no entry", (line) => {
  expect(fromLedgerLine(line)).toBeUndefined();
});

test("parses any text without throwing", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.json()), (line) => {
      const entry = fromLedgerLine(line);
      expect(entry === undefined || typeof entry.tool === "string").toBe(true);
    }),
  );
});
